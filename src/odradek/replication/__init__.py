"""One partition's replicas: what a leader knows of its followers, and what follows from it."""
