"""Columns that are stored encrypted: what becomes of their table, as statements. The ciphers are in the C module."""
