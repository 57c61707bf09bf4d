"""What Kafka's tools print: answers in, text out, and nothing else happens here."""
