"""Somebody who reasons: an attacker who uses the release itself, and an honest learner beside."""
