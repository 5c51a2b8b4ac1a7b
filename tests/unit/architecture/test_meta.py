"""What PGXN and packagers are told about the extension."""

from __future__ import annotations

import json
import re
from pathlib import Path

from dev.install import extension_version
from dev.postgresql import SUPPORTED

ROOT = Path(__file__).resolve().parents[3]


def test_the_meta_file_has_what_pgxn_wants_of_it() -> None:
    # https://pgxn.org/meta/spec.txt: required fields, semantic versions, a license that it knows
    meta = json.loads((ROOT / "META.json").read_text())
    assert {"name", "version", "abstract", "maintainer", "license", "provides", "meta-spec"} <= meta.keys()
    assert meta["meta-spec"]["version"] == "1.0.0"
    assert meta["license"] == "gpl_3"
    for version in (meta["version"], meta["provides"]["discreet"]["version"]):
        assert re.fullmatch(r"\d+\.\d+\.\d+", version)
        assert version == extension_version()
    for file in ("file", "docfile"):
        assert (ROOT / meta["provides"]["discreet"][file]).exists()
    assert meta["prereqs"]["runtime"]["requires"]["PostgreSQL"] == f"{SUPPORTED[0]}.0.0"


def test_the_debian_package_has_the_version_and_the_packages_of_the_extension() -> None:
    debian = ROOT / "debian"
    assert re.match(r"discreet \((.+)\) ", (debian / "changelog").read_text())[1] == extension_version()  # type: ignore[index]
    wanted = re.search(r"^server_packages=\((.*)\)$", (ROOT / "dev" / "setup").read_text(), re.MULTILINE)
    assert wanted is not None
    control = (debian / "control.in").read_text()
    # gcc and make come with every build
    for package in {*wanted[1].split(), "postgresql-plpython3-MAJOR", "postgresql-server-dev-MAJOR"} - {"gcc", "make"}:
        assert re.search(rf"^ +{package},?$", control, re.MULTILINE), package
