"""Comparison of a client's API versions with library signatures."""

import pytest

from rollcall.catalog.clients.libraries import parse_version
from rollcall.catalog.clients.signatures import (
    API_VERSIONS,
    LibraryVersion,
    compare,
    library_versions,
)
from rollcall.catalog.releases.api_ranges import listed_ranges

FETCH, METADATA, JOIN_GROUP = 1, 3, 11


def sender(library: str, version: str | None) -> LibraryVersion:
    return next(
        known
        for known in library_versions()
        if known.library.id == library and known.version == parse_version(version)
    )


def used(**versions: int) -> dict[int, frozenset[int]]:
    keys = {"fetch": FETCH, "metadata": METADATA, "api_versions": API_VERSIONS, "join": JOIN_GROUP}
    return {keys[name]: frozenset({version}) for name, version in versions.items()}


@pytest.mark.parametrize(
    ("release", "fetch", "distinctive"),
    [("4.3", 11, True), ("2.8", 11, True), ("2.3", 11, False), ("1.0", 6, False)],
)
def test_a_library_uses_the_highest_common_version_with_an_older_broker(
    release: str, fetch: int, distinctive: bool
) -> None:
    match = compare(sender("aiokafka", "0.14.0"), used(fetch=fetch), listed_ranges(release))
    assert match.matching == {FETCH}
    assert match.distinctive == ({FETCH} if distinctive else set())
    assert not match.conflicting


def test_a_version_below_both_maximums_conflicts_with_a_library_that_negotiates() -> None:
    match = compare(sender("aiokafka", "0.14.0"), used(fetch=10), listed_ranges("4.3"))
    assert match.conflicting == {FETCH}


def test_a_library_that_does_not_negotiate_sends_the_same_to_every_broker() -> None:
    ruby = sender("ruby-kafka", "1.5.1")
    for release in ("0.11", "3.9"):
        assert compare(ruby, used(join=1), listed_ranges(release)).matching == {JOIN_GROUP}
    assert compare(ruby, used(join=0), listed_ranges("0.10.0")).conflicting == {JOIN_GROUP}


def test_api_versions_is_sent_with_the_maximum_of_the_library_first() -> None:
    java = sender("apache-kafka-java", "3.9")
    sent = {API_VERSIONS: frozenset({4, 0})}
    assert compare(java, sent, listed_ranges("1.0")).distinctive == {API_VERSIONS}
    assert compare(java, used(api_versions=0), listed_ranges("1.0")).conflicting == {API_VERSIONS}


def test_api_versions_conflicts_with_a_library_that_never_sends_it() -> None:
    rust = sender("kafka-rust", None)
    assert compare(rust, used(api_versions=0), listed_ranges("3.9")).conflicting == {API_VERSIONS}


def test_any_lower_version_matches_without_the_ranges_of_the_broker() -> None:
    match = compare(sender("aiokafka", "0.14.0"), used(fetch=6), None)
    assert match.matching == {FETCH}


def test_java_clients_have_the_api_versions_of_their_release() -> None:
    assert sender("apache-kafka-java", "2.0").apis[FETCH] == {8}
    assert not sender("apache-kafka-java", "2.3").reports_name
    assert sender("apache-kafka-java", "2.4").reports_name
    assert not sender("apache-kafka-java", "0.10.1").negotiates
