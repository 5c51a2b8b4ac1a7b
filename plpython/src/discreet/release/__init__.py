"""Publishing tables about people: measuring, anonymising and guarding what is released."""
