"""Widgets: drawings of records."""
