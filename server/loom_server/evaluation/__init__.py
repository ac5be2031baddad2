"""Proof: judged sets asked of the service, what the answers are worth, and what differs between two runs."""
