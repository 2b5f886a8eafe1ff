"""The session: prefix, tree, cache and held distribution, on any runtime."""

from tokenloop.session.session import Session
from tokenloop.session.snapshot import Snapshot

__all__ = ["Session", "Snapshot"]
