"""Limits, and the currency in which they are kept."""
