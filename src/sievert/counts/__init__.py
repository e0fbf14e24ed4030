"""The only room with SQL: integer questions about a table, and the engines that answer them."""
