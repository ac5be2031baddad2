"""Frozen values that travel between the stages of a search and of a write."""
