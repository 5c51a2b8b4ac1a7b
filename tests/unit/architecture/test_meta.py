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
