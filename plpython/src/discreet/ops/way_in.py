"""pg_hba.conf, read as the server reads it: by which lines a role comes in, and which of them ask too little."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import ip_network

LOCAL, TLS, GSS, PLAIN = "local", "tls", "gss", "plain"
# by which kinds of connection a line can be met
KINDS = {
    "local": {LOCAL},
    "host": {TLS, GSS, PLAIN},
    "hostssl": {TLS},
    "hostnossl": {GSS, PLAIN},
    "hostgssenc": {GSS},
    "hostnogssenc": {TLS, PLAIN},
}
WEAK = {
    "trust": "without a password",
    "password": "with a password in the clear",
    "md5": "with a password hashed by MD5",
    "ident": "by what the client's own machine says",
}
# the certificate names the role then, whatever the method asks beside it
CERTIFIED = "clientcert=verify-full"


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
    options: tuple[str, ...] = ()
    file: str = "pg_hba.conf"

    @property
    def place(self) -> str:
        return f"line {self.number} of {self.file}"

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

    def directory_in_the_clear(self) -> bool:
        """Whether the server sends passwords to a directory without TLS."""
        if self.method != "ldap":
            return False
        given = dict(option.split("=", 1) for option in self.options if "=" in option)
        secure = given.get("ldapscheme") == "ldaps" or given.get("ldapurl", "").lower().startswith("ldaps:")
        return not secure and given.get("ldaptls") not in ("1", "true")


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
        for kind in (LOCAL, TLS, GSS, PLAIN):
            if kind == TLS and not tls:
                continue
            for line in lines_of(role, kind, lines, database):
                for what, change in faults(line, kind):
                    named = found.setdefault((line, what, change), [])
                    if role.name not in named:
                        named.append(role.name)
    order = {line: place for place, line in enumerate(lines)}
    for (line, what, change), named in sorted(found.items(), key=lambda each: (order[each[0][0]], each[0][1])):
        yield line, what, change, sorted(named)


def faults(line: Line, kind: str) -> Iterator[tuple[str, str]]:
    """What a line asks too little of a connection of this kind, and what to write instead."""
    if line.method == "reject":
        return
    if line.method in WEAK and not (kind == TLS and CERTIFIED in line.options):
        yield WEAK[line.method], f"write scram-sha-256 instead of {line.method}"
    if line.directory_in_the_clear():
        yield "with a password that the server sends to the directory without TLS", "add ldaptls=1 or ldapscheme=ldaps"
    if kind == PLAIN:
        yield "over TCP without TLS", f"write hostssl instead of {line.type}"
