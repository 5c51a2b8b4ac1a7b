"""Local differential privacy: what is randomised before it is stored. The coins themselves are in extension/local.c."""
