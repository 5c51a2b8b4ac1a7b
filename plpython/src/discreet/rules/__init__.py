"""Integrity rules: what each row of a table must satisfy, and how many rows of a kind there may be."""
