"""The shared, versioned tree that brokers agree through: ZooKeeper, or the embedded store in one process."""
