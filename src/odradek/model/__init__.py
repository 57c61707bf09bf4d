"""The nouns everyone shares: ids, errors, settings, the cluster's image."""
