"""`sievert explain`: which columns, values and records drive the risk."""
