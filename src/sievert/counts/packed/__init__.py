"""The fastest counter on one machine: dictionary codes packed into one 64-bit key."""
