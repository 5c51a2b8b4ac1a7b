"""The gate: private SQL for analysts who may not read the tables.

A question goes through stages, each a module with one public function: `parse` (text to tree), `schema` (names to
relations), `plan` (checked tree to measurements), `run` (native SQL), `measure` (group totals to noisy numbers).
What is not known is refused.
"""
