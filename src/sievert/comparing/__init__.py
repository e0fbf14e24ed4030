"""A release beside its original: who is who, what it discloses, what it has lost, in bits."""
