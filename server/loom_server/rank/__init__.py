"""From relevance to the served window: the rank expression, and the shape of the window."""
