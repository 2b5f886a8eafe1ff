"""Pictures of the real program, made by ``make screenshots``."""
