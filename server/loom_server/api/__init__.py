"""The doors: JSON-RPC, flat HTTP and health, all made from the registry in `operations`."""
