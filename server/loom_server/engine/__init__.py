"""Runs the stages of a search; `search` is the pipeline and reads first."""
