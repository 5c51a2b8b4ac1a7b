"""Synthetic tables: rows that belong to no real person, drawn from a model of private measurements."""
