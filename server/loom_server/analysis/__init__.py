"""Texts to index tokens: pure, and the same for what is stored and what is asked."""
