"""The house rules hold over the product, and each of them can fail."""

from __future__ import annotations

from pathlib import Path

import pytest

import house_rules

LONG_FUNCTION = '"""A module."""\ndef f():\n' + "    pass\n" * 60
WIDE_FUNCTION = '"""A module."""\ndef f(a, b, c, d, *, e, f, g, h): ...\n'
METHOD_OF_SEVEN = '"""A module."""\nclass A:\n    def f(self, a, b, c, d, e, f, g): ...\n'
BROAD_EXCEPT = '"""A module."""\ntry:\n    pass\nexcept {}:\n    pass\n'


def tree(root: Path, name: str, text: str) -> list[str]:
    """The breaches of a product that is one module called `name`."""
    file = root / "server" / "loom_server" / name
    file.parent.mkdir(parents=True)
    file.write_text(text, encoding="utf-8")
    return house_rules.breaches(root)


def test_the_product_keeps_the_house_rules() -> None:
    assert sum(1 for _ in house_rules.modules(house_rules.ROOT)) > 30
    assert house_rules.breaches(house_rules.ROOT) == []


def test_every_reason_for_a_broad_except_is_still_needed() -> None:
    for name in house_rules.BROAD:
        source = (house_rules.ROOT / name).read_text(encoding="utf-8")
        assert list(house_rules.broad_excepts(house_rules.ast.parse(source))), name


def test_every_reason_for_a_statement_without_a_template_is_still_needed() -> None:
    for name in house_rules.UNSCOPED:
        source = (house_rules.ROOT / name).read_text(encoding="utf-8")
        assert list(house_rules.bare_statements(house_rules.ast.parse(source))), name


@pytest.mark.parametrize(
    ("name", "text", "breach"),
    [
        ("big.py", '"""A module."""\n' + "\n" * 400, "401 lines"),
        ("helpers.py", '"""A module."""\n', "a name that says nothing"),
        ("bare.py", "x = 1\n", "no module docstring"),
        ("later.py", '"""A module."""\n# ' + "TO" + "DO: more\n", "TO" + "DO"),
        ("long.py", LONG_FUNCTION, "61 lines"),
        ("wide.py", WIDE_FUNCTION, "8 parameters"),
        ("caught.py", BROAD_EXCEPT.format("Exception"), "a broad except"),
        ("caught.py", BROAD_EXCEPT.format("(ValueError, BaseException)"), "a broad except"),
        ("caught.py", BROAD_EXCEPT.replace(" {}", ""), "a broad except"),
        ("free.py", '"""A module."""\nx = Statement("all", "SELECT 1")\n', "2: a statement that UNSCOPED"),
    ],
)
def test_a_breach_is_named_with_its_place(tmp_path: Path, name: str, text: str, breach: str) -> None:
    found = tree(tmp_path, name, text)
    assert any(line.startswith(f"server/loom_server/{name}") and breach in line for line in found)


def test_long_functions_everywhere_raise_the_median(tmp_path: Path) -> None:
    functions = '"""A module."""\n' + "".join(f"def f{i}():\n" + "    pass\n" * 12 for i in range(3))
    assert tree(tmp_path, "even.py", functions) == ["the median function has 13 lines, more than 12"]


@pytest.mark.parametrize(
    "text",
    [METHOD_OF_SEVEN, BROAD_EXCEPT.format("ValueError"), BROAD_EXCEPT.format("BaseException") + "    raise\n"],
)
def test_what_is_allowed_is_no_breach(tmp_path: Path, text: str) -> None:
    assert tree(tmp_path, "fine.py", text) == []
