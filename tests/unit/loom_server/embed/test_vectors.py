"""`unit` and `checked`: what passes, what is refused, and what the refusal says."""

from __future__ import annotations

import numpy as np
import pytest

from loom_server.embed.base import ModelIdentity
from loom_server.embed.vectors import checked, unit
from loom_server.errors import EmbedError

IDENTITY = ModelIdentity("acme", "small", 2, "7")
NAME = "acme:small:2:7"


def rows(*values: tuple[float, float]) -> np.ndarray:
    return np.array(values, dtype=np.float32)


def test_a_vector_is_divided_by_its_length() -> None:
    assert unit(np.array([3.0, 4.0], dtype=np.float32)).tolist() == pytest.approx([0.6, 0.8])


def test_a_zero_vector_stays_zero() -> None:
    assert unit(np.zeros(2, dtype=np.float32)).tolist() == [0.0, 0.0]


def test_unit_and_zero_rows_pass_as_they_are() -> None:
    good = rows((0.6, 0.8), (0.0, 0.0), (-1.0, 0.0))
    assert checked(good, IDENTITY, 3) is good


def test_float64_becomes_float32() -> None:
    single = checked(np.array([[0.6, 0.8]]), IDENTITY, 1)
    assert single.dtype == np.float32
    assert single.tolist() == [[np.float32(0.6), np.float32(0.8)]]


def test_no_rows_pass_with_their_width() -> None:
    assert checked(np.zeros((0, 2), dtype=np.float32), IDENTITY, 0).shape == (0, 2)


@pytest.mark.parametrize(
    "shape",
    [(1, 3), (1, 1), (2, 2), (0, 2), (2,), (1, 1, 2)],
    ids=["wide", "narrow", "a row too many", "no row", "flat", "deep"],
)
def test_another_shape_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(EmbedError, match=NAME) as refused:
        checked(np.zeros(shape, dtype=np.float32), IDENTITY, 1)
    assert str(shape) in refused.value.message
    assert "not (1, 2)" in refused.value.message


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_component_that_is_no_number_is_refused_with_its_row(bad: float) -> None:
    with pytest.raises(EmbedError, match=rf"{NAME} returned NaN or infinity for text 1\."):
        checked(rows((1.0, 0.0), (bad, 0.0)), IDENTITY, 2)


def test_a_number_too_large_for_float32_is_refused() -> None:
    with pytest.raises(EmbedError, match="NaN or infinity"):
        checked(np.array([[1e300, 0.0]]), IDENTITY, 1)


@pytest.mark.parametrize(
    ("row", "length"),
    [((3.0, 4.0), "5"), ((0.5, 0.0), "0.5"), ((1.002, 0.0), "1.002"), ((3e38, 0.0), "3e[+]38")],
)
def test_a_row_of_another_length_is_refused(row: tuple[float, float], length: str) -> None:
    with pytest.raises(EmbedError, match=rf"returned length {length} instead of 1 for text 1\."):
        checked(rows((0.0, 0.0), row), IDENTITY, 2)


def test_rounding_is_no_other_length() -> None:
    assert checked(rows((1.0009, 0.0)), IDENTITY, 1)[0, 0] == np.float32(1.0009)
