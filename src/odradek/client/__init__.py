"""Administration of a cluster over the network: a connection a broker, every request to whom it concerns."""
