"""`sievert assess`: the measures of a table."""
