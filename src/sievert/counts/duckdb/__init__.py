"""DuckDB, the default engine: its adapter, and how it reads each kind of table."""
