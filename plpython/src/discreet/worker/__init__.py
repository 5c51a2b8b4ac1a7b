"""What a gate worker runs: it thinks for all sessions of a database, each of which runs the statements it is given."""
