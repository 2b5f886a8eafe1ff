"""The loop: one thread that owns the session, takes commands and answers with events."""
