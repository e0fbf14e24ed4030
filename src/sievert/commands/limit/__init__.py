"""`sievert limit`: the best possible trade-off, and the release that reaches it."""
