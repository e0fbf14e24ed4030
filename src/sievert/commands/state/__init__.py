"""`sievert count`, `merge` and `update`: counts that outlive the table, and are added up."""
