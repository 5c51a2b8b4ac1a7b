"""Builds the documentation as a site in build/site/html: `make docs`.

The pages are copied in the folders that they have in the repository, so that their links stay as they are. A link to
a page or a heading that does not exist ends the build. Where Chromium is installed, it takes pictures of the first page
in light and dark.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT)]

from dev.browser import chromium, photograph  # noqa: E402

BUILD = ROOT / "build" / "site"
PAGES = (
    "*.md",
    "LICENSE",
    "docs/*",
    "docker/README.md",
    "bench/results/*.md",
    "plpython/src/discreet/personal/__init__.py",
)


def copy_pages() -> None:
    shutil.rmtree(BUILD / "pages", ignore_errors=True)
    for pattern in PAGES:
        for page in ROOT.glob(pattern):
            place = BUILD / "pages" / page.relative_to(ROOT)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(page, place)


def main() -> None:
    copy_pages()
    configuration = Path(__file__).with_name("mkdocs.yml")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "--config-file", str(configuration)]
    finished = subprocess.run(command)
    if finished.returncode:
        sys.exit(finished.returncode)
    page = BUILD / "html" / "index.html"
    print(page)
    if chromium():
        for name, dark in (("light", False), ("dark", True)):
            photograph(page, BUILD / f"{name}.png", 1280, 2400, dark)
            print(BUILD / f"{name}.png")


if __name__ == "__main__":
    main()
