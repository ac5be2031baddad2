"""Which runs are identifiers, how they are spelt, and what is in them."""

import pytest

from loom_server.analysis.tokens import units


def told(text: str, *kinds: str) -> list[str]:
    return [unit.text for unit in units(text) if unit.kind in kinds]


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("pg_hba.conf", "pg_hba.conf"),
        ("PROJ-1234", "proj-1234"),
        ("camelCase", "camelcase"),
        ("PascalCase", "pascalcase"),
        ("HTTPServer2", "httpserver2"),
        ("snake_case", "snake_case"),
        ("_leading_and_inner_", "leading_and_inner"),
        ("__init__", "__init__"),
        ("__init__.py", "__init__.py"),
        ("a/b/c.py", "a/b/c.py"),
        ("/etc/x", "/etc/x"),
        ("/help", "/help"),
        ("~/.bashrc", "~/.bashrc"),
        ("./run.sh", "run.sh"),
        ("../x/y.txt", "../x/y.txt"),
        (r"C:\Users\ana\f.txt", "c:/users/ana/f.txt"),
        ("src/.git/config", "src/.git/config"),
        (".env", ".env"),
        (".NET", ".net"),
        ("Node.js", "node.js"),
        ("ERR_CONN_RESET", "err_conn_reset"),
        ("#1234", "#1234"),
        ("C++", "c++"),
        ("C++20", "c++20"),
        ("C#", "c#"),
        ("@ana", "@ana"),
        ("user@host", "user@host"),
        ("AT&T", "at&t"),
        ("TCP/IP", "tcp/ip"),
        ("FOO-BAR", "foo-bar"),
        ("std::vector", "std::vector"),
        ("os.path.join(x", "os.path.join"),
        ("GPT-4o", "gpt-4o"),
        ("COVID-19", "covid-19"),
        ("k8s", "k8s"),
        ("s3", "s3"),
        ("0x1F", "0x1f"),
        ("3x3", "3x3"),
        ("iPhone", "iphone"),
        ("iPhone's", "iphone"),
        ("macOS", "macos"),
        ("feature/PROJ-1-fix", "feature/proj-1-fix"),
        ("ana@example.com", "ana@example.com"),
        ("mailto:ana@example.com", "ana@example.com"),
        ("https://www.Example.com/a/?q=1", "example.com/a/?q=1"),
        ("http://example.com/", "example.com"),
        ("ssh://git@host/repo.git", "ssh://git@host/repo.git"),
        ("s3://bucket/key", "s3://bucket/key"),
        ("(https://example.com/a).", "example.com/a"),
        ("Éric_Tabarly", "éric_tabarly"),
        ("ｐｇ＿ｈｂａ．ｃｏｎｆ", "pg_hba.conf"),
    ],
)
@pytest.mark.parametrize("frame", ["{}", "({}),", "see {}.", "«{}»", "{}!?"])
def test_is_an_identifier_whatever_stands_around_it(text: str, whole: str, frame: str) -> None:
    assert told(frame.format(text), "identifier") == [whole]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("word", ["word"]),
        ("Word", ["word"]),
        ("WORD", ["word"]),
        ("well-known", ["well", "known"]),
        ("Well-Known", ["well", "known"]),
        ("state-of-the-art", ["state", "of", "the", "art"]),
        ("T-shirt", ["t", "shirt"]),
        ("--dry-run", ["dry", "run"]),
        ("well--known", ["well", "known"]),
        ("and/or", ["and", "or"]),
        ("km/h", ["km", "h"]),
        ("Ana's", ["ana"]),
        ("O'Brien", ["o'brien"]),
        ("DON'T", ["don't"]),
        ("'quoted'", ["quoted"]),
        ("_emphasis_", ["emphasis"]),
        ("McDonald", ["mcdonald"]),
        ("APIs", ["apis"]),
        ("U.S.A.", ["usa"]),
        ("e.g.", ["eg"]),
        ("256", ["256"]),
        ("3.5", ["3.5"]),
        ("50%", ["50"]),
        ("$HOME", ["home"]),
        ("1,234", ["1234"]),
        ("1,234,567.89", ["1234567.89"]),
        ("1.234,50", ["1234.50"]),
        ("3,5", ["3", "5"]),
        ("12,34", ["12", "34"]),
        ("1,2345", ["1", "2345"]),
        ("10-15", ["10", "15"]),
        ("2023-2024", ["2023", "2024"]),
        ("24/7", ["24", "7"]),
        ("24-hour", ["24", "hour"]),
        ("5/day", ["5", "day"]),
        ("a:b", ["a", "b"]),
        ("well...maybe", ["well", "maybe"]),
        ("#topic", ["topic"]),
        ("a,b;c", ["a", "b", "c"]),
        ("Ｆｕｌｌ", ["full"]),
        ("___", []),
        ("-", []),
        ("&", []),
        ("'", []),
        ("~/", []),
        ("http://", ["http"]),
        ("http://=", []),
    ],
)
def test_is_words_and_no_identifier(text: str, words: list[str]) -> None:
    assert told(text, "identifier", "nested") == []
    assert told(text, "word") == words


@pytest.mark.parametrize(
    ("text", "word", "parts"),
    [
        ("5pm", "5pm", ["5", "pm"]),
        ("3rd", "3rd", ["3", "rd"]),
        ("1990s", "1990s", ["1990"]),
        ("100ms", "100ms", ["100", "ms"]),
        ("1.5k", "1.5k", ["1.5"]),
        ("10:30", "10h30", ["10", "30"]),
        ("1:30:15", "1h30m15", ["1", "30", "15"]),
    ],
)
def test_a_quantity_or_time_is_a_word_with_parts(text: str, word: str, parts: list[str]) -> None:
    assert told(text, "identifier", "nested") == []
    assert told(text, "word") == [word]
    assert told(text, "part") == parts


@pytest.mark.parametrize(
    ("text", "nested", "parts"),
    [
        ("pg_hba.conf", ["pg_hba"], ["pg", "hba", "conf"]),
        ("PROJ-1234", [], ["proj", "1234"]),
        ("camelCase", [], ["camelcase", "camel", "case"]),
        ("HTTPServer2", [], ["httpserver", "http", "server", "2"]),
        ("listAPIs", [], ["listapis", "list", "apis"]),
        ("OAuth", [], ["oauth", "auth"]),
        ("a/b/c.py", ["c.py"], ["py"]),
        ("src/app/my_mod.py", ["my_mod.py", "my_mod"], ["src", "app", "my", "mod", "py"]),
        ("/etc/x", [], ["etc"]),
        ("ERR_CONN_RESET", [], ["err", "conn", "reset"]),
        ("python3", [], ["python", "3"]),
        ("utf8", [], ["utf", "8"]),
        ("k8s", [], []),
        ("log4j-core", ["log4j"], ["core"]),
        ("x86_64", ["x86"], ["64"]),
        ("GPT-4o", [], ["gpt", "4o", "4"]),
        ("backup-5gb.tar", ["backup-5gb"], ["backup", "5gb", "5", "gb", "tar"]),
        ("C++", [], []),
        ("C/C++", ["c++"], []),
        ("#1234", [], ["1234"]),
        ("@ana", [], ["ana"]),
        ("ana.b@mail.example.com", ["ana.b", "mail.example.com"], ["ana", "mail", "example", "com"]),
        ("https://example.com/a?x=long_name#top", ["example.com/a", "example.com", "long_name"],
         ["example", "com", "long", "name", "top"]),
        ("api/v1.9.2/users", ["1.9.2"], ["api", "1.9", "1", "9", "2", "users"]),
        ("x/550e8400-e29b-41d4-a716-446655440000", ["550e8400-e29b-41d4-a716-446655440000"], []),
        ("QWxhZGRpbjpvcGVuIHNlc2FtZQ", [], []),
        ("R2D2", [], []),
        ("http://5/", [], ["5"]),
        ("http://localhost", [], ["localhost"]),
        ("http://s3/", [], []),
        ("aAbBcC", [], ["aabbcc"]),
        ("my_ClickHouse", ["clickhouse"], ["my", "clickhouse", "click", "house"]),
    ],
)  # fmt: skip
def test_has_these_identifiers_and_parts_inside(text: str, nested: list[str], parts: list[str]) -> None:
    assert told(text, "nested") == nested
    assert told(text, "part") == parts


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("wi-fi", ["wifi"]),
        ("user_name", ["username"]),
        ("user_name.py", ["username"]),
        ("state-of-the-art", []),
        ("covid-19", []),
        ("my_ClickHouse", []),
        ("and/or", []),
    ],
)
def test_two_plain_words_are_joined(text: str, joined: list[str]) -> None:
    assert told(text, "joined") == joined


def test_parts_know_the_word_that_their_compound_makes() -> None:
    made = {unit.text: unit.joined for unit in units("ClickHouse wi-fi err_conn_reset HTTPServer2")}
    assert made["click"] == made["house"] == made["clickhouse"] == "clickhouse"
    assert made["wi"] == made["fi"] == "wifi"
    assert made["err"] == made["err_conn_reset"] == ""
    assert made["http"] == "httpserver"
    assert made["httpserver2"] == made["2"] == made["wifi"] == ""


def test_runs_over_the_limit_are_words_only() -> None:
    text = "ab_" * 400 + "end"
    assert told(text, "identifier", "nested") == []
    assert told(text, "word") == ["ab"] * 400 + ["end"]


def test_a_url_over_the_limit_is_whole_and_words() -> None:
    text = "https://example.com/" + "ab/" * 400
    (whole,) = told(text, "identifier", "nested")
    assert whole.startswith("example.com/ab/")
    assert told(text, "part") == ["example", "com"] + ["ab"] * 400
