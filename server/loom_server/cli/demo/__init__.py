"""The demo: a team's memories, four questions that show what a search can and cannot answer."""
