"""A private PostgreSQL cluster: own data folder, own socket and port, run by an unprivileged user.

`make up | down | reset | psql | dsn` call this as a program; tests, demo and benchmarks make throw-away ones.
"""

from __future__ import annotations

import hashlib
import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from dev.postgresql import pg_config  # noqa: E402

# PostgreSQL allows 107 bytes for the path of a socket; other characters would need quotes in a connection string
PLAIN_SOCKET_FOLDER = re.compile(r"[A-Za-z0-9/._+-]{1,80}")

# for two clusters, with what they write ahead
ROOM_IN_MEMORY = 6 * 2**30


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Cluster:
    """A cluster below `folder`, on a Unix socket only; its socket trusts every local role."""

    folder: Path
    port: int = 54329
    settings: dict[str, str] = field(default_factory=dict)

    @property
    def user(self) -> str:
        """The server refuses to run as root: then the system's user postgres runs it."""
        return "postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def socket(self) -> Path:
        beside = self.folder / "socket"
        if PLAIN_SOCKET_FOLDER.fullmatch(str(beside)):
            return beside
        return Path("/tmp") / ("discreet-" + hashlib.sha256(str(self.folder).encode()).hexdigest()[:12])

    def dsn(self, database: str = "postgres", user: str = "postgres") -> str:
        return f"host={self.socket} port={self.port} dbname={database} user={user}"

    def run(self, program: str, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Runs a program of PostgreSQL as the cluster's user."""
        command = [os.path.join(pg_config("--bindir"), program), *arguments]
        if os.getuid() == 0:
            command = ["runuser", "-u", self.user, "--", *command]
        done = subprocess.run(command, capture_output=True, text=True, cwd="/", stdin=subprocess.DEVNULL)
        if check and done.returncode != 0:
            raise RuntimeError(f"{program} failed:\n{done.stdout}{done.stderr}")
        return done

    def sql(self, text: str, database: str = "postgres") -> str:
        """Runs SQL as superuser, and returns what it prints, unaligned."""
        command = [
            os.path.join(pg_config("--bindir"), "psql"),
            "-XqAt",
            "-v",
            "ON_ERROR_STOP=1",
            self.dsn(database),
        ]
        done = subprocess.run(command, input=text, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip())
        return done.stdout.strip()

    @property
    def lock_is_stale(self) -> bool:
        """Whether the process named in the lock file is another program, as it can be after a reboot."""
        try:
            number = int((self.data / "postmaster.pid").read_text().split("\n")[0])
            arguments = Path(f"/proc/{number}/cmdline").read_bytes().split(b"\0")
        except (OSError, ValueError):
            return False
        return os.fsencode(self.data) not in arguments

    @property
    def running(self) -> bool:
        status = self.run("pg_ctl", "status", "-D", str(self.data), check=False)
        return status.returncode == 0 and not self.lock_is_stale

    def create(self) -> None:
        """Makes the data folder where there is none; a half-made one is made anew."""
        if (self.folder / "complete").exists():
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        account = pwd.getpwnam(self.user)
        os.chown(self.folder, account.pw_uid, account.pw_gid)
        options = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8"]
        if self.settings.get("fsync") == "off":
            options.append("--no-sync")
        self.run("initdb", "-D", str(self.data), *options)
        with (self.data / "postgresql.conf").open("a") as configuration:
            configuration.write("include_if_exists = 'discreet.conf'\n")
        (self.folder / "complete").touch()

    def start(self) -> None:
        """Starts the server, also after a crash; does nothing when it runs."""
        self.create()
        if self.running:
            return
        account = pwd.getpwnam(self.user)
        self.socket.mkdir(exist_ok=True)
        os.chown(self.socket, account.pw_uid, account.pw_gid)
        self.socket.chmod(0o700)  # every process that reaches the socket is trusted
        settings = {
            "listen_addresses": "",
            "port": str(self.port),
            "unix_socket_directories": str(self.socket),
            "shared_preload_libraries": "discreet",
        } | self.settings
        quoted = {name: value.replace("'", "''") for name, value in settings.items()}
        configuration = "".join(f"{name} = '{value}'\n" for name, value in quoted.items())
        (self.data / "discreet.conf").write_text(configuration)
        (self.data / "discreet.conf").chmod(0o644)
        if self.lock_is_stale:
            for lock in [self.data / "postmaster.pid", *self.socket.glob(".s.PGSQL.*.lock")]:
                lock.unlink(missing_ok=True)
        self.run("pg_ctl", "start", "-w", "-D", str(self.data), "-l", str(self.folder / "log"))

    def stop(self, mode: str = "fast") -> None:
        if self.running:
            self.run("pg_ctl", "stop", "-w", "-m", mode, "-D", str(self.data))

    def remove(self) -> None:
        self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.rmtree(self.socket, ignore_errors=True)


@contextmanager
def throw_away_folder(in_memory: bool = False) -> Iterator[Path]:
    """A folder where the server's user can reach it; in memory, where there is room, files are made faster."""
    memory = Path("/dev/shm")
    roomy = in_memory and memory.is_dir() and shutil.disk_usage(memory).free > ROOM_IN_MEMORY
    folder = Path(tempfile.mkdtemp(prefix="discreet-", dir=memory if roomy else "/var/tmp"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def throw_away(in_memory: bool = False, **settings: str) -> Iterator[Cluster]:
    """A running cluster that is gone afterwards, whatever happens."""
    with throw_away_folder(in_memory) as folder:
        cluster = Cluster(folder / "cluster", settings=settings)
        try:
            cluster.start()
            yield cluster
        finally:
            cluster.remove()


def own_cluster() -> Cluster:
    """The cluster of this checkout. Root's is outside the checkout, where user postgres can reach it."""
    if os.getuid() != 0:
        return Cluster(ROOT / ".cluster")
    return Cluster(Path("/var/lib/discreet") / hashlib.sha256(str(ROOT).encode()).hexdigest()[:12])


def installed_state() -> str:
    """Changes whenever another build is installed: the server must then load it anew."""
    library = Path(pg_config("--pkglibdir")) / "discreet.so"
    scripts = sorted((Path(pg_config("--sharedir")) / "extension").glob("discreet--*.sql"))
    return hashlib.sha256(b"".join(file.read_bytes() for file in [library, *scripts])).hexdigest()


def up(cluster: Cluster) -> None:
    built = cluster.folder / "build.sha256"
    if cluster.running and (not built.exists() or built.read_text() != installed_state()):
        say("Another build is installed: restarting the private cluster")
        cluster.stop()
    if not cluster.running:
        say(f"Starting the private cluster in {cluster.folder}")
        cluster.start()
        built.write_text(installed_state())
    if cluster.sql("SELECT 1 FROM pg_database WHERE datname = 'discreet'") == "":
        cluster.sql("CREATE DATABASE discreet")
    if cluster.sql("SELECT to_regclass('hr.employee')", "discreet") == "":
        say("Loading the sample data")
        command = [
            sys.executable,
            str(ROOT / "demo" / "sample_data.py"),
            "--size",
            os.environ.get("SIZE", "1"),
        ]
        cluster.sql(subprocess.run(command, check=True, capture_output=True, text=True).stdout, "discreet")
    cluster.sql("SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS discreet CASCADE", "discreet")
    cluster.sql("SET client_min_messages = warning; ALTER EXTENSION discreet UPDATE", "discreet")


def psql(cluster: Cluster) -> None:
    program = os.path.join(pg_config("--bindir"), "psql")
    os.execv(program, [program, cluster.dsn("discreet"), *sys.argv[2:]])


def main(verb: str) -> None:
    cluster = own_cluster()
    if verb == "up":
        up(cluster)
        say(f"Running. Connect with: make psql, or psql '{cluster.dsn('discreet')}'")
    elif verb == "down":
        cluster.stop()
    elif verb == "reset":
        cluster.remove()
    elif verb == "psql":
        psql(cluster)
    elif verb == "dsn":
        print(cluster.dsn("discreet"))
    else:
        sys.exit("usage: dev/cluster.py up|down|reset|psql|dsn")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
