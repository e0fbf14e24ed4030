"""Spark, the engine of a cluster: its adapter, and how it is started and reads tables."""
