"""What operators see: metrics and log lines."""
