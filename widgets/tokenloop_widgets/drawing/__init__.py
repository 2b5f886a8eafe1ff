"""Drawings: pure functions of data, size and palette; no app, no state.

Each returns strips of exactly the width and height that were asked for.
"""
