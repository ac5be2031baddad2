"""The four questions of the demo, each with the one sentence that says what it shows.

The paraphrase shares no word, not even a stem, with its fact: only the vectors can find it. The
off-topic question is about nothing that the team ever wrote. A test holds both to that.
"""

from __future__ import annotations

from dataclasses import dataclass

NAMESPACE = "platform"


@dataclass(frozen=True, slots=True)
class Shown:
    """A question, what it shows, and what it must come to: a key in the first place, or None for an abstain."""

    title: str
    query: str
    shows: str
    first: str | None


QUESTIONS = (
    Shown(
        "An answered question",
        "How many connections may the orders database pool hold?",
        "The key was set twice: 60 in January, 120 in June. The value that counts is found, the superseded one is not.",
        "db/orders/pool-size",
    ),
    Shown(
        "An exact identifier",
        "What did PROJ-1234 change?",
        "By their vectors alone all projects look alike; the whole identifier is what tells them apart.",
        "project/PROJ-1234",
    ),
    Shown(
        "A paraphrase",
        "How are staff immunized against influenza?",
        "The question shares no word with its fact, so the word legs are silent; the vectors find it.",
        "office/flu",
    ),
    Shown(
        "An off-topic question",
        "What is the best recipe for lentil soup?",
        "Nothing the team wrote is about this: the rows show how far they fall short, and the search abstains.",
        None,
    ),
)
