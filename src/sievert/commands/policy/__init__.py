"""`sievert policy`: what a policy lacks for a table."""
