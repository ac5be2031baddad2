"""Identifiers that are known by their shape: a pattern, a canonical spelling, and what is inside.

The canonical spelling makes equal what is written in several ways:

    DE89 3704 0044 0532 0130 00 = DE89370400440532013000      v1.9.2 = 1.9.2
    2001:DB8:0:0::1 = 2001:db8::1      (555) 123-4567 = 555-123-4567      2024/5/1 = 2024-05-01

An IBAN counts with a right check sum in any case, and without one in capitals. UUIDs,
hashes, MAC and IPv6 addresses have no parts: pieces of them are noise. Patterns name ASCII
digits: folding has made the others so, but for those too new for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv6Address

import regex

from loom_server.analysis.folding import caseless
from loom_server.analysis.units import Unit

Inside = Callable[[str, int], Iterator[Unit]]

_HEXTET = "[0-9A-Fa-f]{1,4}"
_HEXTETS = rf"{_HEXTET}(?::{_HEXTET}){{0,6}}"
MAC = r"[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}"
MOMENT = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}(?::[0-9]{2})?(?:\.[0-9]{1,9})?(?:[Zz]|[+-][0-9]{2}:?[0-9]{2})?"
)
IPV6 = (
    rf"(?=[A-Fa-f:]{{0,39}}[0-9])(?:(?:{_HEXTET}:){{7}}{_HEXTET}"
    rf"|(?:{_HEXTETS})?::(?:{_HEXTETS})?(?::[0-9]{{1,3}}(?:\.[0-9]{{1,3}}){{3}})?)"
)
_PHONE = (
    r"\+[0-9]{1,3}[\x20.-]?(?:\([0-9]{1,4}\)[\x20.-]?)?[0-9]{1,12}(?:[\x20.-][0-9]{2,8}){0,5}"
    r"|\([0-9]{3}\)\x20?[0-9]{3}[\x20.-][0-9]{4}"
)
_SPACED_IBAN = r"[A-Za-z]{2}[0-9]{2}(?:\x20[A-Za-z0-9]{4}){2,7}(?:\x20[A-Za-z0-9]{1,3})?"
SPANNING = rf"(?<![A-Za-z0-9_])(?:{_SPACED_IBAN}|{_PHONE})(?![A-Za-z0-9_])"
"""What may hold spaces; `spanning_length` says how much of it does."""


@dataclass(frozen=True, slots=True)
class Shape:
    """`check` is asked after the pattern; `inside` tells the units within, given the text and its place."""

    pattern: regex.Pattern[str]
    canonical: Callable[[str], str]
    inside: Inside
    check: Callable[[str], bool] | None


def shape_of(text: str) -> Shape | None:
    """The first shape that the whole text has."""
    for shape in _SHAPES:
        if shape.pattern.fullmatch(text) and (shape.check is None or shape.check(text)):
            return shape
    return None


def spanning_length(text: str) -> int:
    """How many characters of what matched `SPANNING` are one identifier; 0 if none."""
    if text[0] in "+(":
        return len(text) if _is_phone(text) else 0
    groups = text.split(" ")
    prefixes = [" ".join(groups[:count]) for count in range(len(groups), 3, -1)]
    sure = next(filter(_checks, prefixes), "")
    return len(sure or next(filter(_is_iban, prefixes), ""))


def clock(text: str) -> str:
    """`10:30` as `10h30`, and with seconds `10h30m15`."""
    return text.replace(":", "h", 1).replace(":", "m", 1)


def _digits(text: str) -> str:
    return regex.sub(r"\D", "", text)


def _is_phone(text: str) -> bool:
    return len(_digits(text)) >= 7


def _bare(text: str) -> str:
    return text.replace(" ", "")


def _checks(text: str) -> bool:
    """ISO 7064, MOD 97-10: four characters moved to the end, letters as 10 to 35, the rest is 1."""
    bare = _bare(text).upper()
    return 15 <= len(bare) <= 34 and int("".join(str(int(c, 36)) for c in bare[4:] + bare[:4])) % 97 == 1


def _is_iban(text: str) -> bool:
    return 15 <= len(_bare(text)) <= 34 and text.isupper()


def _is_ipv4(text: str) -> bool:
    return all(int(part) < 256 for part in text.partition("/")[0].split("."))


def _ipv6(text: str) -> str:
    try:
        return IPv6Address(text).compressed
    except AddressValueError:
        return text


def _date(text: str) -> str:
    return "-".join(part.zfill(2) for part in regex.split(r"[-/.]", text))


def _version(text: str) -> str:
    return text[1:] if text[0] in "vV" else text


def _nothing(text: str, at: int) -> Iterator[Unit]:
    yield from ()


def _at_place(kind_texts: tuple[str, ...], text: str, at: int) -> Iterator[Unit]:
    for part in kind_texts:
        yield Unit("part", part, at, at + len(text))


def _fours(text: str, at: int) -> Iterator[Unit]:
    bare = caseless(_bare(text))
    yield from _at_place(tuple(bare[i : i + 4] for i in range(0, len(bare), 4)), text, at)


def _numbers(text: str, at: int) -> Iterator[Unit]:
    for match in regex.finditer(r"[0-9]+", text):
        yield Unit("part", match[0], at + match.start(), at + match.end())


def _network(text: str, at: int) -> Iterator[Unit]:
    """The numbers of an IPv4 address, and the address of a network."""
    if "/" in text:
        address = text.partition("/")[0]
        yield Unit("nested", address, at, at + len(address))
    yield from _numbers(text, at)


def _date_parts(text: str, at: int) -> Iterator[Unit]:
    parts = _date(text).split("-")
    if len(parts) == 3:
        yield Unit("nested", "-".join(parts[:2]), at, at + len(text))
    yield from _at_place(tuple(parts), text, at)


def _moment_parts(text: str, at: int) -> Iterator[Unit]:
    yield Unit("nested", text[:10], at, at + 10)
    yield from _date_parts(text[:10], at)
    yield Unit("part", clock(text[11:16]), at + 11, at + 16)


def _version_parts(text: str, at: int) -> Iterator[Unit]:
    """`1.9` and each number of `1.9.2`, and the words after them."""
    start = len(text) - len(_version(text))
    major_minor = regex.match(r"[0-9]+\.[0-9]+", text, pos=start)
    if major_minor and major_minor.end() < len(text):
        yield Unit("part", major_minor[0], at + start, at + major_minor.end())
    for match in regex.finditer(r"[0-9]+|\p{L}{2,}", text, pos=start):
        yield Unit("part", caseless(match[0]), at + match.start(), at + match.end())


def _shape(
    pattern: str,
    canonical: Callable[[str], str] = str,
    inside: Inside = _nothing,
    check: Callable[[str], bool] | None = None,
) -> Shape:
    return Shape(regex.compile(pattern), canonical, inside, check)


_IBAN = r"[A-Za-z]{2}[0-9]{2}(?:\x20?[A-Za-z0-9]){11,37}"
_HEX = "[0-9A-Fa-f]"
_SHAPES = (
    _shape(rf"{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"),
    _shape(MAC, lambda text: text.replace("-", ":")),
    _shape(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}(?:/[0-9]{1,2})?", inside=_network, check=_is_ipv4),
    _shape(MOMENT, inside=_moment_parts),
    _shape(
        r"(?:19|20)[0-9]{2}-(?:0[1-9]|1[0-2])|(?:19|20)[0-9]{2}([-/.])(?:0?[1-9]|1[0-2])\1(?:0?[1-9]|[12][0-9]|3[01])",
        _date,
        _date_parts,
    ),
    _shape(
        r"[0-9]{3}-[0-9]{4}|[0-9]{3}([-.])[0-9]{3}\1[0-9]{4}|[0-9]{1,4}(?:-[0-9]{2,5}){2,4}",
        _digits,
        _numbers,
        _is_phone,
    ),
    _shape(_PHONE, _digits, _numbers, _is_phone),
    _shape(r"(?:[vV][0-9]+(?:\.[0-9]+)+|[0-9]+(?:\.[0-9]+){2,})(?:[-+._]?\p{L}[\w.+-]*)?", _version, _version_parts),
    _shape(_IBAN, _bare, _fours, _checks),
    _shape(r"[0-9]{7,}", inside=_numbers),
    _shape(rf"(?:0x)?(?=[0-9]*[A-Fa-f])(?=[A-Fa-f]*[0-9]){_HEX}{{7,}}"),
    _shape(_IBAN, _bare, _fours, _is_iban),
    _shape(IPV6, _ipv6),
)
