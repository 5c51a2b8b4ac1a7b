"""Chromium without a screen: what a page looks like, and what a browser makes of it."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path


def chromium() -> str | None:
    return shutil.which("chromium")


def photograph(page: Path, picture: Path, width: int, height: int, dark: bool = False) -> None:
    options = ["--blink-settings=preferredColorScheme=0"] if dark else []
    _run(page, f"--window-size={width},{height}", f"--screenshot={picture}", *options)


def shown(page: Path) -> str:
    """The page as the browser understood it, written as HTML again."""
    return _run(page, "--dump-dom")


def _run(page: Path, *options: str) -> str:
    browser = chromium()
    if browser is None:
        raise SystemExit("Please install chromium: it takes the pictures")
    with tempfile.TemporaryDirectory(prefix="discreet-browser-") as profile:
        command = [
            browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
            "--disable-background-networking", "--hide-scrollbars", f"--user-data-dir={profile}", *options,
            page.as_uri(),
        ]  # fmt: skip
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout
