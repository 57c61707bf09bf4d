"""Every setting once: name, type, default, bounds, scope, meaning."""
