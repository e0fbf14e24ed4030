"""Count states: the distinct combinations of some columns with how many records have each."""
