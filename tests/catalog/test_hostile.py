"""Arbitrary responses, clients and client ids give a result and never an exception."""

from hypothesis import given
from hypothesis import strategies as st

from rollcall.catalog.brokers.fingerprints import compared_ranges
from rollcall.catalog.brokers.identify import identify_release
from rollcall.catalog.clients.applications import application_of
from rollcall.catalog.clients.identify import identify_library
from rollcall.catalog.features import BrokerSupport, usable_features
from rollcall.catalog.ranges import as_ranges, intersect
from rollcall.catalog.releases.api_ranges import listed_ranges
from rollcall.catalog.releases.release_lines import known_release_lines

INT16 = st.integers(-32768, 32767)
RANGES = st.dictionaries(INT16 | st.integers(0, 100), st.tuples(INT16, INT16), max_size=40)
FEATURES = st.dictionaries(
    st.text(max_size=9) | st.just("metadata.version"), st.tuples(INT16, INT16)
)
REAL = st.sampled_from(
    [
        listed_ranges(line.name, mode)
        for line in known_release_lines()
        for mode in line.modes
        if line.answers_api_versions
    ]
)


@given(RANGES, FEATURES, INT16)
def test_identify_release_accepts_any_response(
    ranges: dict[int, tuple[int, int]], features: dict[str, tuple[int, int]], error: int
) -> None:
    levels = {name: high for name, (_, high) in features.items()}
    inference = identify_release(
        ranges, supported_features=features, finalized_features=levels, error_code=error
    )
    assert not inference.lines or error


@given(REAL, RANGES)
def test_a_modified_list_is_never_identified_as_a_release_with_another_list(
    real: dict[int, tuple[int, int]], other: dict[int, tuple[int, int]]
) -> None:
    mixed = {**real, **{key: range_ for key, range_ in other.items() if key in real}}
    inference = identify_release(mixed)
    for candidate in inference.candidates:
        if not candidate.conditions:
            listed = listed_ranges(candidate.patches[0], candidate.mode)
            assert compared_ranges(as_ranges(mixed)) == compared_ranges(listed)


@given(RANGES, RANGES)
def test_usable_features_accepts_any_brokers(
    one: dict[int, tuple[int, int]], two: dict[int, tuple[int, int]]
) -> None:
    assert intersect([one, two]) == intersect([two, one])
    assert usable_features({1: BrokerSupport(one), 2: BrokerSupport(two)})


@given(
    st.text(max_size=20),
    st.text(max_size=20),
    st.text(max_size=60),
    st.dictionaries(INT16, st.lists(INT16, max_size=4), max_size=10),
    st.none() | RANGES,
)
def test_identify_library_accepts_any_client(
    name: str,
    version: str,
    client_id: str,
    versions: dict[int, list[int]],
    broker: dict[int, tuple[int, int]] | None,
) -> None:
    identify_library(name, version, client_id, versions, broker)
    identify_library(None, None, client_id, versions, broker)
    assert "*" in application_of(client_id + "1")
