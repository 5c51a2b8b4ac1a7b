"""The only code that touches plpy."""
