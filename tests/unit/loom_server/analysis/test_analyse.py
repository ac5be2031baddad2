"""Worked examples of the whole analysis: index tokens, query terms and matches."""

import pytest

from loom_server.analysis import analyse
from loom_server.errors import InvalidInput
from loom_server.model.query import MAX_TERMS, Term


def tokens_of(text: str, language: str = "en") -> set[str]:
    return set(analyse.index_tokens(text, language=language).counts)


def term(text: str, slot: int = 0, language: str = "en") -> Term:
    return analyse.query_terms(text, language)[slot]


def finds(query: str, text: str, key: str = "") -> list[str]:
    """The texts of the query's terms that the row matches."""
    counts = analyse.index_tokens(text, key).counts
    return [term.text for term in analyse.query_terms(query) if any(form in counts for form in term.forms)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", set()),
        (" \t\n", set()),
        ("?!… — ()", set()),
        ("🙂🎉", set()),
        ("\0\0", set()),
        ("\ud800", set()),
        ("running", {"run"}),
        ("Running, RUNNING!", {"run"}),
        ("ran", {"ran", "l:run"}),
        ("mice", {"mice", "l:mous"}),
        ("the", {"s:the"}),
        ("The cat", {"s:the", "cat"}),
        ("don't", {"s:don't"}),
        ("don’t", {"s:don't"}),
        ("dont", {"s:dont"}),
        ("Ana's", {"ana"}),
        ("it's", {"s:it"}),
        ("O'Brien", {"obrien"}),
        ("José", {"jose"}),
        ("Jose\u0301", {"jose"}),
        ("soft\u00adware", {"softwar"}),
        ("Straße", {"strass"}),
        ("256", {"256"}),
        ("3.5", {"3.5"}),
        ("1,234.50", {"1234.50"}),
        ("1,234", {"1234"}),
        ("1234", {"1234"}),
        ("well-known", {"well", "known", "l:know", "l:wellknown"}),
        ("wi-fi", {"wi", "fi", "l:wifi"}),
        ("state-of-the-art", {"state", "s:of", "s:the", "art"}),
        ("pg_hba.conf", {"i:pg_hba.conf", "i:pg_hba", "pg", "hba", "conf", "l:pghba"}),
        ("PROJ-1234", {"i:proj-1234", "proj", "1234"}),
        ("ClickHouse", {"i:clickhouse", "clickhous", "click", "hous"}),
        ("clickhouse", {"clickhous"}),
        ("getUserById", {"i:getuserbyid", "getuserbyid", "get", "user", "s:by", "id"}),
        ("猫が", {"猫が", "l:猫"}),
        ("猫", {"猫"}),
        ("node.js", {"i:node.js", "node", "js"}),
    ],
)
def test_a_text_has_these_index_tokens(text: str, expected: set[str]) -> None:
    assert tokens_of(text) == expected


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("de", "Häuser", {"haus"}),
        ("de", "die Kinder", {"s:die", "kind"}),
        ("de", "ging", {"ging", "l:geh"}),
        ("fr", "l'homme", {"homm"}),
        ("fr", "aujourd'hui", {"aujourdhui"}),
        ("it", "dell'acqua", {"acqua"}),
        ("ru", "её", {"s:её"}),
        ("ru", "шёл", {"шел", "l:идт"}),
        ("es", "niños", {"niñ"}),
        ("en-GB", "colours", {"colour"}),
        ("no", "barna", {"barn"}),
        ("und", "running", {"running"}),
        ("und", "the", {"the"}),
        ("ja", "Running", {"running"}),
        ("zh", "天气", {"天气", "l:天", "l:气"}),
        ("de", "pg_hba.conf", {"i:pg_hba.conf", "i:pg_hba", "pg", "hba", "conf", "l:pghba"}),
    ],
)
def test_a_language_has_its_own_stems_and_stop_words(language: str, text: str, expected: set[str]) -> None:
    assert tokens_of(text, language) == expected


@pytest.mark.parametrize("call", [analyse.index_tokens, analyse.query_terms])
def test_an_unknown_language_is_refused_by_name(call) -> None:
    with pytest.raises(InvalidInput, match=r"language: unknown language; use one of ar, .* und"):
        call("text", language="xx")


def test_counts_and_length_count_repetition_of_scored_tokens_only() -> None:
    tokens = analyse.index_tokens("The mice saw the mice; see pg_hba.conf", key="mice")
    assert tokens.counts["mice"] == 2
    assert tokens.counts["l:mous"] == 2
    assert tokens.counts["s:the"] == 2
    assert tokens.counts["k:mice"] == 1
    # mice, saw, mice, see, i:pg_hba.conf, i:pg_hba, pg, hba, conf
    assert tokens.length == 9
    assert sum(analyse.scored_tokens(tokens).values()) == tokens.length
    assert not {token for token in analyse.scored_tokens(tokens) if token[:2] in ("l:", "s:", "k:")}


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("", set()),
        ("colour", {"k:colour"}),
        ("favourite_colours", {"k:favourite_colours", "k:favourit", "k:colour", "k:favouritecolour"}),
        ("team/Ana", {"k:team", "k:ana"}),
        ("out_of_office", {"k:out_of_office", "k:offic"}),
        ("mice", {"k:mice", "k:mous"}),
        ("user-42", {"k:user-42", "k:user", "k:42"}),
        ("the", set()),
        ("天気", {"k:天気", "k:天", "k:気"}),
    ],
)
def test_a_key_has_these_tokens_and_no_length(key: str, expected: set[str]) -> None:
    tokens = analyse.index_tokens("", key)
    assert set(tokens.counts) == expected
    assert tokens.length == 0


def test_a_word_matches_by_stem_lemma_and_key() -> None:
    assert term("mice") == Term("mice", "word", ("mice", "l:mice", "mous", "l:mous", "k:mice", "k:mous"), "mice")
    assert term("runs") == Term("runs", "word", ("run", "l:run", "k:run"), "run")


def test_a_stop_word_is_a_slot_that_scores_nothing() -> None:
    assert term("The") == Term("the", "stop", ("s:the",), None)


def test_an_identifier_is_a_slot_and_its_parts_are_slots() -> None:
    slots = [(t.kind, t.text, t.scored) for t in analyse.query_terms("see PROJ-1234")]
    assert slots == [
        ("word", "see", "see"),
        ("identifier", "proj-1234", "i:proj-1234"),
        ("part", "proj", "proj"),
        ("part", "1234", "1234"),
    ]
    assert term("PROJ-1234").forms == ("i:proj-1234", "k:proj-1234")


def test_an_identifier_within_an_identifier_is_a_part() -> None:
    slots = [(t.kind, t.scored) for t in analyse.query_terms("src/c.py")]
    assert slots == [("identifier", "i:src/c.py"), ("part", "src"), ("part", "i:c.py"), ("part", "py")]


def test_a_name_in_mixed_case_is_scored_as_the_word_that_others_write() -> None:
    slot = term("ClickHouse")
    assert slot.kind == "identifier"
    assert slot.scored == "clickhous"
    assert slot.forms == ("i:clickhouse", "k:clickhouse", "clickhous", "l:clickhous", "k:clickhous")


def test_bigrams_are_slots() -> None:
    assert [(t.kind, t.forms, t.scored) for t in analyse.query_terms("猫が好")] == [
        ("bigram", ("猫が", "k:猫が"), "猫が"),
        ("bigram", ("が好", "k:が好"), "が好"),
    ]
    assert term("猫").forms == ("猫", "l:猫", "k:猫")


def test_words_of_one_stem_are_one_slot_with_the_forms_of_both() -> None:
    slots = analyse.query_terms("university universe")
    assert [t.text for t in slots] == ["university"]
    assert {"univers", "l:univers", "k:univers"} <= set(slots[0].forms)
    assert len(analyse.query_terms("run running runs")) == 1


def test_too_many_words_drop_stop_words_first_then_the_last_words_and_keep_identifiers() -> None:
    words = " ".join(f"{chr(97 + i // 26)}{chr(97 + i % 26)}zq" for i in range(80))
    slots = analyse.query_terms(f"the {words} PROJ-77")
    assert len(slots) == MAX_TERMS
    assert slots[0].text == "aazq"
    assert slots[-1].text == "proj-77"
    assert [t.kind for t in slots].count("word") == MAX_TERMS - 1


@pytest.mark.parametrize(
    ("query", "text", "found"),
    [
        ("pg_hba", "edit pg_hba.conf", ["pg_hba", "pg", "hba"]),
        ("pg_hba.conf", "see PG_HBA.CONF.", ["pg_hba.conf", "pg_hba", "pg", "hba", "conf"]),
        ("proj-1234", "PROJ-1234 is done", ["proj-1234", "proj", "1234"]),
        ("PROJ-1234", "PROJ-1235 is done", ["proj"]),
        ("clickhouse", "we use ClickHouse", ["clickhouse"]),
        ("ClickHouse", "we use clickhouse", ["clickhouse", "click", "house"]),
        ("httpserver2", "class HTTPServer2", ["httpserver2", "httpserver", "2"]),
        ("wifi", "the wi-fi is slow", ["wifi"]),
        ("wi-fi", "the wifi is slow", ["wi", "fi"]),
        ("username", "the field user_name", ["username"]),
        ("user_name", "the username", ["user", "name"]),
        ("c.py", "look at src/app/c.py", ["c.py", "py"]),
        ("example.com", "write to ana@example.com", ["example.com", "example", "com"]),
        ("v1.9.2", "released 1.9.2", ["1.9.2", "1.9", "1", "9", "2"]),
        ("1.9", "released v1.9.2", ["1.9"]),
        (
            "DE89370400440532013000",
            "DE89 3704 0044 0532 0130 00",
            ["de89370400440532013000", "de89", "3704", "0044", "0532", "0130", "00"],
        ),
        ("ending 0532", "DE89370400440532013000", ["0532"]),
        ("555-123-4567", "call (555) 123-4567", ["5551234567", "555", "123", "4567"]),
        ("2024-05", "on 2024-05-01", ["2024-05", "2024", "05"]),
        ("2024-05-01", "on 2024/5/1", ["2024-05-01", "2024-05", "2024", "05", "01"]),
        ("1234", "it cost $1,234.", ["1234"]),
        ("1234", "#1234", ["1234"]),
        ("5 pm", "at 5pm", ["5", "pm"]),
        ("mouse", "three mice", ["mouse"]),
        ("mice", "a mouse", ["mice"]),
        ("best", "better", ["best"]),
        ("went", "she goes", ["went"]),
        ("Jose", "José", ["jose"]),
        ("obrien", "O'Brien's desk", ["obrien"]),
        ("dogs'", "the dog", ["dogs"]),
        ("猫", "私は猫が好き", ["猫"]),
        ("天気", "明日の天気は", ["天気"]),
        ("สวัสดี", "สวัสดีครับ", ["สวั", "วัส", "สดี"]),
        ("C++", "in C++, not C", ["c++"]),
        ("C", "in C++", []),
        ("10.0.0.0", "10.0.0.0/8", ["10.0.0.0", "10", "0"]),
        ("2001:db8::1", "2001:DB8:0:0:0:0:0:1", ["2001:db8::1"]),
        ("https://www.example.com/a/", "example.com/a", ["example.com/a", "example.com", "example", "com"]),
    ],
)
def test_a_query_finds_a_text(query: str, text: str, found: list[str]) -> None:
    assert finds(query, text) == found


def test_a_query_finds_a_key() -> None:
    assert finds("favourite colours", "", key="user.favouriteColour") == ["favourite", "colours"]
    assert finds("user.favouriteColour", "", key="user.favouriteColour")[0] == "user.favouritecolour"
    assert finds("mouse", "", key="mice") == ["mouse"]
    assert finds("mice", "", key="mouse") == ["mice"]


def test_matches_are_places_in_the_text() -> None:
    text = "Edit PG_HBA.conf; the MICE ran."
    found = analyse.matches(text, analyse.query_terms("pg_hba.conf mouse running"))
    assert [(m.term, text[m.start : m.end]) for m in found] == [
        ("pg_hba.conf", "PG_HBA.conf"),
        ("pg_hba", "PG_HBA"),
        ("pg", "PG"),
        ("hba", "HBA"),
        ("conf", "conf"),
        ("mouse", "MICE"),
        ("running", "ran"),
    ]


def test_matches_name_the_joined_place_only_where_nothing_within_it_matches() -> None:
    text = "our wi-fi"
    assert [text[m.start : m.end] for m in analyse.matches(text, analyse.query_terms("wifi"))] == ["wi-fi"]
    assert [text[m.start : m.end] for m in analyse.matches(text, analyse.query_terms("wi-fi"))] == ["wi", "fi"]


def test_matches_keep_their_places_behind_characters_that_fold_to_more_or_none() -> None:
    text = "ﬃ soft\u00adware ½ ｆｕｌｌ résumé"
    found = analyse.matches(text, analyse.query_terms("software full resume"))
    assert [text[m.start : m.end] for m in found] == ["soft\u00adware", "ｆｕｌｌ", "résumé"]


def test_matches_do_not_see_keys() -> None:
    assert analyse.matches("nothing here", [Term("colour", "word", ("k:nothing",), "colour")]) == ()


def test_one_token_counts_no_more_than_its_column_holds() -> None:
    tokens = analyse.index_tokens("cat " * 70_000)
    assert tokens.counts == {"cat": analyse.MAX_COUNT}
    assert tokens.length == 70_000


def test_long_words_are_cut_but_stay_distinct() -> None:
    first, second = ("x" * 100_000 + tail for tail in "ab")
    (token,) = tokens_of(first)
    assert len(token) <= 128
    assert tokens_of(first.upper()) == {token}
    assert tokens_of(second) != {token}
    (identifier,) = (token for token in tokens_of("https://a.example/" + "y" * 500) if token.startswith("i:a.example/"))
    assert identifier.startswith("i:a.example/yyy")
    assert len(identifier) <= 130


def test_memoised_and_long_chunks_give_the_same_tokens() -> None:
    chunk = "alpha_beta/" * 3 + "gamma.py"
    assert len(chunk) < 48
    padded = f"({chunk}" + "!" * 60
    assert tokens_of(padded) == tokens_of(chunk)
    assert analyse.query_terms(padded) == analyse.query_terms(chunk)
