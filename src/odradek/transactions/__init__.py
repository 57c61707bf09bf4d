"""Exactly-once: producer ids, and what a coordinator knows of transactions."""
