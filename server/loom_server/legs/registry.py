"""The legs that exist. A new leg is one file and one line here."""

from __future__ import annotations

from loom_server.legs.base import Leg
from loom_server.legs.fact import FactLeg
from loom_server.legs.postings import PostingsLeg

LEGS: tuple[Leg, ...] = (FactLeg(), PostingsLeg())
LEG_NAMES: tuple[str, ...] = tuple(name for leg in LEGS for name in leg.serves)
