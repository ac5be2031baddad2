"""The engine behind one protocol: scoped statements in, columns out."""
