"""What a curator would declare of whole schemas, proposed from the catalog alone (discreet.propose, discreet.adopt).

The input is a description of the catalog: tables, keys, CHECKs, types, names, comments. No row is read, so a proposal
reveals nothing about people. What it proposes can be wrong, and costs then accuracy, never privacy: bounds and
categories are enforced by the native SQL of each question whatever the constraints say, `max_rows` is enforced the
same way, and nothing becomes public without a human. Two guesses could reveal: that a table has a given person, which
`protect()` checks again by the foreign keys, and that a text names no person; in doubt it hides the column.
"""
