"""discreet: answers questions about people from PostgreSQL without giving the people away."""
