"""The legs: each one statement and one score. `base` is their contract, `registry` their list."""
