"""Postgres: its adapter, and how its tables are opened and read."""
