"""How near an intruder comes to a confidential number, whatever the publisher does."""
