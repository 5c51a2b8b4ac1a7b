"""Somebody who gets at the memory of a session, after it has closed a key, looks for the key."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.database.waiting import waited_for
from tests.databases import Connection
from tests.sealed import SECRET, Shop, one

LOSES = ["SELECT discreet.close_key('k')", "DISCARD ALL", "SET ROLE pg_monitor"]
SUM = "SELECT sum(salary) FROM shop.customer"


def named_key(shop: Shop) -> bytes:
    """What scrypt makes of the secret, computed here."""
    salt, cost, block, lanes = one(shop.database.connect(), "SELECT salt, cost, block, lanes FROM discreet._key")
    return hashlib.scrypt(SECRET, salt=salt, n=2**cost, r=block, p=lanes, maxmem=2**27, dklen=32)


def memory(session: Connection, shared: bool = False) -> bytes:
    """All that the process could write, as gcore would take it, and what is left out of core files besides.

    `shared`: the memory that it shares with other processes instead.
    """
    process = Path("/proc") / str(session.info.backend_pid)
    found = []
    with (process / "mem").open("rb") as mapped:
        for line in (process / "maps").read_text().splitlines():
            place = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw", line)
            is_shared = any(name in line for name in ("SYSV", "/dev/zero", "/dev/shm", "/memfd:"))
            if place is None or is_shared is not shared:
                continue
            start, end = (int(each, 16) for each in place.groups())
            mapped.seek(start)
            try:
                found.append(mapped.read(end - start))
            except OSError:
                continue
    return b"".join(found)


@pytest.mark.parametrize("lose", LOSES)
def test_a_key_that_was_lost_is_nowhere_in_memory(shop: Shop, lose: str) -> None:
    key = named_key(shop)
    session = shop.database.connect()
    session.execute("SELECT discreet.open_key('k', %s)", [SECRET])
    assert one(session, "SELECT sum(salary) FROM shop.customer") == 21000
    assert key in memory(session), "else this test would not see it"
    session.execute(lose)
    session.execute("SELECT 1")
    assert key not in memory(session)


def test_a_key_that_was_taken_from_the_role_is_nowhere_in_memory(shop: Shop) -> None:
    """The session loses it with its next statement."""
    key = named_key(shop)
    app = shop.connect(shop.app)
    assert one(app, SUM) == 21000
    assert key in memory(app), "else this test would not see it"
    shop.database.connect(shop.curator).execute("SELECT discreet.revoke_key('k', %s)", [shop.app])
    assert one(app, SUM) is None
    assert key not in memory(app)


def test_no_key_stays_in_the_server_after_the_backend_has_ended(shop: Shop) -> None:
    """Memory that the server's processes share is all that could outlive a backend."""
    key = named_key(shop)
    watcher = shop.database.connect()
    app = shop.connect(shop.app)
    assert one(app, SUM) == 21000
    assert key in memory(app), "else this test would not see it"
    ended = app.info.backend_pid
    app.close()
    waited_for(lambda: not Path(f"/proc/{ended}").exists())
    shared = memory(watcher, shared=True)
    assert b"shop" in shared, "else this test would not see what is shared"
    assert key not in shared


@pytest.mark.skipif(shutil.which("gcore") is None, reason="gcore is not installed: apt install gdb")
@pytest.mark.parametrize("lose", LOSES)
def test_a_core_file_of_the_session_has_no_key(shop: Shop, lose: str, tmp_path: Path) -> None:
    """Not while the key is open, for its memory is left out of core files; nor afterwards, with all of the memory."""
    key = named_key(shop)
    session = shop.database.connect()
    session.execute("SELECT discreet.open_key('k', %s)", [SECRET])
    assert one(session, SUM) == 21000
    assert key not in core(session, tmp_path / "open")
    # gcore -a takes what is left out of core files, too
    assert key in core(session, tmp_path / "whole", "-a"), "else this test would not see it"
    session.execute(lose)
    session.execute("SELECT 1")
    assert key not in core(session, tmp_path / "lost", "-a")


def core(session: Connection, place: Path, *options: str) -> bytes:
    pid = session.info.backend_pid
    done = subprocess.run(["gcore", *options, "-o", place, str(pid)], capture_output=True, text=True, check=False)
    if done.returncode != 0 and "ptrace" in done.stdout + done.stderr:
        pytest.skip("this account may not trace the server's processes")
    assert done.returncode == 0, done.stderr
    file = place.with_name(f"{place.name}.{pid}")
    try:
        return file.read_bytes()
    finally:
        file.unlink()


def test_the_memory_is_locked_and_left_out_of_core_files(shop: Shop) -> None:
    session = shop.connect(shop.app)
    smaps = Path(f"/proc/{session.info.backend_pid}/smaps").read_text()
    regions = re.split(r"\n(?=[0-9a-f]+-[0-9a-f]+ )", smaps)
    flags = [re.search(r"VmFlags: (.*)", region) for region in regions]
    assert any(found is not None and {"lo", "dd"} <= set(found.group(1).split()) for found in flags)


def test_an_error_while_a_key_is_open_leaves_no_copy(shop: Shop) -> None:
    key = named_key(shop)
    carol = shop.connect(shop.curator)
    with pytest.raises(Exception, match="does not open"):
        carol.execute("SELECT discreet.rotate_key('k', 'wrong', 'new')")
    with pytest.raises(Exception, match="already"):
        carol.execute("SELECT discreet.seal_column('shop.customer', 'salary', 'k')")
    carol.execute("SELECT discreet.close_key('k')")
    assert key not in memory(carol)
