"""Shipped to users, used by us: the lying ports, the simulator, the pytest plugin."""
