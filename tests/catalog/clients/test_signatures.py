"""What speaks for a library and what against it, in the versions that it sent."""

import pytest

from rollcall.catalog.clients.signatures import API_VERSIONS, Sender, compare, senders
from rollcall.catalog.releases.api_ranges import listed_ranges

FETCH, METADATA, JOIN_GROUP = 1, 3, 11


def sender(library: str, version: str | None) -> Sender:
    return next(s for s in senders() if (s.library.id, s.version) == (library, version))


def seen(**versions: int) -> dict[int, frozenset[int]]:
    keys = {"fetch": FETCH, "metadata": METADATA, "api_versions": API_VERSIONS, "join": JOIN_GROUP}
    return {keys[name]: frozenset({version}) for name, version in versions.items()}


@pytest.mark.parametrize(
    ("release", "fetch", "tells"),
    [("4.3", 11, True), ("2.8", 11, True), ("2.3", 11, False), ("1.0", 6, False)],
)
def test_towards_an_older_broker_a_library_uses_the_highest_common_version(
    release: str, fetch: int, tells: bool
) -> None:
    match = compare(sender("aiokafka", "0.14.0"), seen(fetch=fetch), listed_ranges(release))
    assert match.agreeing == {FETCH}
    assert match.telling == ({FETCH} if tells else set())
    assert not match.against


def test_a_version_below_both_maxima_speaks_against_a_library_that_negotiates() -> None:
    match = compare(sender("aiokafka", "0.14.0"), seen(fetch=10), listed_ranges("4.3"))
    assert match.against == {FETCH}


def test_a_library_that_does_not_negotiate_sends_the_same_to_everyone() -> None:
    ruby = sender("ruby-kafka", "1.5.1")
    for release in ("0.11", "3.9"):
        assert compare(ruby, seen(join=1), listed_ranges(release)).agreeing == {JOIN_GROUP}
    assert compare(ruby, seen(join=0), listed_ranges("0.10.0")).against == {JOIN_GROUP}


def test_api_versions_is_asked_with_the_highest_first_whatever_the_broker_has() -> None:
    java = sender("apache-kafka-java", "3.9")
    asked = {API_VERSIONS: frozenset({4, 0})}
    assert compare(java, asked, listed_ranges("1.0")).telling == {API_VERSIONS}
    assert compare(java, seen(api_versions=0), listed_ranges("1.0")).against == {API_VERSIONS}


def test_who_never_asks_is_excluded_by_a_question() -> None:
    rust = sender("kafka-rust", None)
    assert compare(rust, seen(api_versions=0), listed_ranges("3.9")).against == {API_VERSIONS}


def test_without_the_brokers_ranges_any_lower_version_is_possible() -> None:
    match = compare(sender("aiokafka", "0.14.0"), seen(fetch=6), None)
    assert match.agreeing == {FETCH}


def test_java_clients_have_the_versions_of_their_release() -> None:
    assert sender("apache-kafka-java", "2.0").apis[FETCH] == {8}
    assert not sender("apache-kafka-java", "2.3").tells
    assert sender("apache-kafka-java", "2.4").tells
    assert not sender("apache-kafka-java", "0.10.1").negotiates
