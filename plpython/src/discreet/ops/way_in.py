"""pg_hba.conf, read as the server reads it: by which lines a role comes in, and which of them ask too little."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import ip_network

LOCAL, TLS, PLAIN = "local", "tls", "plain"
# by which kinds of connection a line can be met; what GSS encrypts is neither
KINDS = {
    "local": {LOCAL},
    "host": {TLS, PLAIN},
    "hostssl": {TLS},
    "hostnossl": {PLAIN},
    "hostnogssenc": {TLS, PLAIN},
}
WEAK = {
    "trust": "without a password",
    "password": "with a password in the clear",
    "md5": "with a password hashed by MD5",
}


@dataclass(frozen=True)
class Line:
    """A line of pg_hba.conf that the server could read, in their order."""

    number: int
    type: str
    databases: tuple[str, ...]
    users: tuple[str, ...]
    address: str | None
    netmask: str | None
    method: str

    def covers(self, other: Line) -> bool:
        """Whether each address of another line is one of this line, too."""
        if self.address in (None, "all") or (self.address, self.netmask) == (other.address, other.netmask):
            return True
        if self.netmask is None or other.netmask is None:
            return False
        mine, others = (ip_network(f"{line.address}/{prefix(line)}", strict=False) for line in (self, other))
        return mine.version == others.version and mine.subnet_of(others) is False and others.subnet_of(mine)  # type: ignore[arg-type]

    def __str__(self) -> str:
        address = "" if self.address is None else f" {self.address}"
        if self.netmask is not None:
            address += f"/{prefix(self)}"
        return f"{self.type} {','.join(self.databases)} {','.join(self.users)}{address} {self.method}"


def prefix(line: Line) -> int:
    """The netmask as a number of bits: that of ffff:: has no notation of its own in Python."""
    mask = str(line.netmask)
    if ":" not in mask:
        return sum(bin(int(part)).count("1") for part in mask.split("."))
    return bin(int(ip_network(mask).network_address)).count("1")


@dataclass(frozen=True)
class Role:
    """A role that logs in, and all roles of which it is a member."""

    name: str
    groups: frozenset[str]


def meets(line: Line, role: Role, database: str) -> bool:
    """Whether a line is for a role in a database. Of regular expressions, which PostgreSQL 16 has, that is assumed."""
    user = any(
        each in ("all", role.name) or each.startswith("/") or (each.startswith("+") and each[1:] in role.groups)
        for each in line.users
    )
    return user and any(
        each in ("all", database)
        or each.startswith("/")
        or (each == "sameuser" and role.name == database)
        or (each in ("samerole", "samegroup") and database in role.groups)
        for each in line.databases
    )


def lines_of(role: Role, kind: str, lines: Iterable[Line], database: str) -> Iterator[Line]:
    """The lines by which a role can come over a kind of connection: the first that fits an address decides."""
    before: list[Line] = []
    for line in lines:
        if kind in KINDS.get(line.type, set()) and meets(line, role, database):
            if not any(each.covers(line) for each in before):
                yield line
            before.append(line)


def weak_lines(
    lines: tuple[Line, ...], roles: Iterable[Role], database: str, tls: bool
) -> Iterator[tuple[Line, str, str, list[str]]]:
    """Lines that ask too little of some roles: the line, what is wrong, what to write instead, and the roles."""
    found: dict[tuple[Line, str, str], list[str]] = {}
    for role in roles:
        for kind in (LOCAL, TLS, PLAIN):
            if kind == TLS and not tls:
                continue
            for line in lines_of(role, kind, lines, database):
                for what, change in faults(line, kind):
                    named = found.setdefault((line, what, change), [])
                    if role.name not in named:
                        named.append(role.name)
    for (line, what, change), named in sorted(found.items(), key=lambda each: (each[0][0].number, each[0][1])):
        yield line, what, change, sorted(named)


def faults(line: Line, kind: str) -> Iterator[tuple[str, str]]:
    if line.method == "reject":
        return
    if line.method in WEAK:
        yield WEAK[line.method], f"write scram-sha-256 instead of {line.method}"
    if kind == PLAIN:
        yield "over TCP without TLS", f"write hostssl instead of {line.type}"
