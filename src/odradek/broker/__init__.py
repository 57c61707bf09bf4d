"""The shell: one asyncio loop where everything below meets."""
