"""Special functions, each defined once."""
