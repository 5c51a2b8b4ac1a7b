"""Keeping watch over an installation: what happened, and what will."""
