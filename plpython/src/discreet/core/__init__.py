"""What every feature stands on: errors, and the declarations a curator makes."""
