"""May the window be used as an answer: evidence, the two lines, confidence, verdict."""
