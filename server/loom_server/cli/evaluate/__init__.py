"""`loom eval`: run judged sets, compare two runs, report."""
