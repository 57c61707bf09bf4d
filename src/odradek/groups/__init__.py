"""Consumer groups: who is a member, who reads what, and how far each has come."""
