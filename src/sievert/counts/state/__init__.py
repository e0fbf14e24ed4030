"""Count states: the distinct combinations of some columns, and the number of records of each."""
