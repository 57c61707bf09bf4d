"""What requests do. A file here mirrors one in `wire/messages/`, which says what they look like."""
