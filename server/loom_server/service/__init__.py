"""The operations behind every door: wire requests in, wire answers out.

Composes the engine, the write path and the housekeeping, which do not know each other.
"""
