"""Unit rows: made by `unit`, and refused by `checked` where an embedder returned something else.

Cosines, floors and thresholds assume rows of length 1 (or all zero, where a text has no
tokens), and a stored NaN would spoil every later search that scans it. So what an
embedder returns is checked before anything else sees it.
"""

from __future__ import annotations

import numpy as np

from loom_server.embed.base import ModelIdentity, Vectors
from loom_server.errors import EmbedError

LENGTH_TOLERANCE = 1e-3
"""How far a row's length may lie from 1: what rounding does, and no missing normalisation."""


def unit(vector: Vectors) -> Vectors:
    """`vector` divided by its length, shape (dimension,); a zero vector stays zero."""
    length = float(np.linalg.norm(vector))
    return vector / np.float32(length) if length > 0.0 else vector


def checked(vectors: Vectors, identity: ModelIdentity, rows: int) -> Vectors:
    """`vectors` as float32 of shape (rows, dimension).

    Raises `EmbedError` naming the embedder when the shape is another, a component is
    not finite, or a row is neither a unit nor a zero row.
    """
    wanted = (rows, identity.dimension)
    if vectors.shape != wanted:
        raise EmbedError(f"Embedder {identity.name} returned vectors of shape {vectors.shape}, not {wanted}.")
    with np.errstate(over="ignore"):
        single = vectors.astype(np.float32, copy=False)
    finite = np.isfinite(single).all(axis=1)
    if not finite.all():
        raise EmbedError(f"Embedder {identity.name} returned NaN or infinity for text {int(np.argmin(finite))}.")
    # Float64, since the square of a large float32 is no float32.
    lengths = np.linalg.norm(single.astype(np.float64), axis=1)
    usable = (lengths == 0.0) | (np.abs(lengths - 1.0) <= LENGTH_TOLERANCE)
    if not usable.all():
        row = int(np.argmin(usable))
        raise EmbedError(f"Embedder {identity.name} returned length {lengths[row]:.4g} instead of 1 for text {row}.")
    return single
