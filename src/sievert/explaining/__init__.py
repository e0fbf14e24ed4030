"""Which columns, values and records carry the risk: pure functions of counted combinations."""
