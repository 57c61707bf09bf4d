"""One family of messages a file, requests and responses side by side."""
