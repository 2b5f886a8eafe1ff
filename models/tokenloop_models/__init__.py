"""The decoder runtime."""
