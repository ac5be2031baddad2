"""Keeping house: sweeping up after a crash, and checking that everything agrees."""
