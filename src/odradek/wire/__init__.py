"""Bytes to values and back: messages, record batches, compression, checksums."""
