"""Special functions, each defined once, and loops compiled for speed."""
