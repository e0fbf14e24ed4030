"""`sievert compare`: releases against their original."""
