"""Loom Recall: a retrieval service for the memory of agents and teams, on ClickHouse."""

from __future__ import annotations

from importlib.metadata import version

__version__ = version("loom-recall")
