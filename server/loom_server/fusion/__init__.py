"""One pool of candidates, and one order over it for each search mode."""
