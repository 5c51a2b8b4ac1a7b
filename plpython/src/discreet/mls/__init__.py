"""Multilevel tables: every cell has a label, and each session sees and writes what its own label allows."""
