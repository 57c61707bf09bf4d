"""Odradek: Apache Kafka's log in Python."""

__version__ = "0.1.0"
