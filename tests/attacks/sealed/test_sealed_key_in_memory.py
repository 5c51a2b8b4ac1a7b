"""Somebody who gets at the memory of a session, after it has closed a key, looks for the key."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest
from tests.databases import Connection
from tests.sealed import SECRET, Shop, one

LOSES = ["SELECT discreet.close_key('k')", "DISCARD ALL", "SET ROLE pg_monitor"]


def named_key(shop: Shop) -> bytes:
    """What scrypt makes of the secret, computed here."""
    salt, cost, block, lanes = one(shop.database.connect(), "SELECT salt, cost, block, lanes FROM discreet._key")
    return hashlib.scrypt(SECRET, salt=salt, n=2**cost, r=block, p=lanes, maxmem=2**27, dklen=32)


def memory(session: Connection) -> bytes:
    """All that the process could write, as gcore would take it, and what is left out of core files besides."""
    process = Path("/proc") / str(session.info.backend_pid)
    found = []
    with (process / "mem").open("rb") as mapped:
        for line in (process / "maps").read_text().splitlines():
            place = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw", line)
            if place is None or "SYSV" in line or "/dev/zero" in line:
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
