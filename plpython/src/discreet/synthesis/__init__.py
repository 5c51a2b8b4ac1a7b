"""Synthetic tables: rows that are nobody's, drawn from a model of private measurements."""
