"""Judged sets in the shapes that people have them in, each read into one `Dataset`."""
