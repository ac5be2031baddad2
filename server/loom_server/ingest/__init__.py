"""Writes: memories and the files they come from. `memory.MemoryWriter` is the way in."""
