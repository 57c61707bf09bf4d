"""The commit log on disk, in Kafka's own formats."""
