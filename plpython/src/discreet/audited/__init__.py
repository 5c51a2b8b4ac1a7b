"""Exact answers about people chosen by public columns, and the audit that keeps them from adding up to a person."""
