"""Loom Recall: a retrieval service for the memory of agents and teams, on ClickHouse."""
