"""The columns of a table: what their values look like, and a likely role of each."""
