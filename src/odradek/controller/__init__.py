"""The cluster's single decision maker, pure: from what is and what happened to what should be done."""
