"""How the program ends: its exit codes, the shells' own where they have one."""

from __future__ import annotations

FAILED = 1
"""A fault."""

MISUSED = 2
"""Wrong usage."""

INTERRUPTED = 128 + 2
"""Ctrl-C."""

PIPE_CLOSED = 128 + 13
"""The reader of our output went away."""
