"""Identification of a broker's release, and of the broker by what it reports."""

import json
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from rollcall.catalog.apis import Mode, known_apis
from rollcall.catalog.brokers.fingerprints import (
    TRANSACTION_KEYS,
    BrokerCondition,
    compared_ranges,
)
from rollcall.catalog.brokers.identify import (
    RULES,
    identify_broker,
    identify_release,
    identify_without_api_versions,
)
from rollcall.catalog.brokers.result import BrokerKind, EvidenceKind, ObservedBroker
from rollcall.catalog.provenance import Provenance
from rollcall.catalog.ranges import Range, Ranges
from rollcall.catalog.releases.api_ranges import listed_ranges, release_line
from rollcall.catalog.releases.release import METADATA_VERSION, Listing, Release, ReleaseLine
from rollcall.catalog.releases.release_lines import known_release_lines

RESPONSES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "data" / "real_responses.json").read_text()
)

SAME_LIST = {
    ("3.3", Mode.KRAFT): {"3.3", "3.4"},
    ("3.4", Mode.KRAFT): {"3.3", "3.4"},
    ("3.7", Mode.CONTROLLER): {"3.7", "3.8"},
    ("3.8", Mode.CONTROLLER): {"3.7", "3.8"},
}
"""Lines with equal lists, which only features distinguish."""

KRAFT_LINES = [line.name for line in known_release_lines() if Mode.KRAFT in line.modes]


def every_listing() -> Iterator[tuple[ReleaseLine, Listing, Mode]]:
    for line in known_release_lines():
        for listing in line.listings if line.answers_api_versions else ():
            for mode in listing.ranges:
                yield line, listing, mode


LISTINGS = [
    pytest.param(line, listing, mode, id=f"{listing.since}-{mode}")
    for line, listing, mode in every_listing()
]


@pytest.mark.parametrize(
    ("broker", "rule"),
    [
        (ObservedBroker({18: Range(0, 3)}, error_code=35), "error_response"),
        (ObservedBroker({}), "empty_response"),
        (ObservedBroker({501: Range(0, 0)}), "other_product"),
        (ObservedBroker(listed_ranges("3.9")), "known_release"),
        (ObservedBroker({**listed_ranges("4.3"), 18: Range(0, 5)}), "newer_release"),
        (ObservedBroker({**listed_ranges("3.9"), 0: Range(0, 3)}), "subset_of_release"),
        (ObservedBroker({**listed_ranges("2.8"), 0: Range(0, 13)}), "unknown_combination"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_each_rule_decides_its_own_kind_of_response(broker: ObservedBroker, rule: str) -> None:
    assert next(known.__name__ for known in RULES if known(broker) is not None) == rule


@pytest.mark.parametrize(("line", "listing", "mode"), LISTINGS)
def test_885_4_every_list_is_identified_as_its_own_line(
    line: ReleaseLine, listing: Listing, mode: Mode
) -> None:
    inference = identify_release(listing.ranges[mode])
    assert inference.kind is BrokerKind.APACHE
    assert inference.provenance is Provenance.INFERRED
    assert set(inference.lines) == SAME_LIST.get((line.name, mode), {line.name})
    assert inference.mode is mode
    assert all(not candidate.conditions for candidate in inference.candidates)


@pytest.mark.parametrize(("line", "listing", "mode"), LISTINGS)
def test_885_4_features_make_every_list_unambiguous(
    line: ReleaseLine, listing: Listing, mode: Mode
) -> None:
    features = {} if mode is Mode.ZOOKEEPER else dict(line.features)
    inference = identify_release(listing.ranges[mode], supported_features=features)
    assert inference.line == line.name
    [candidate] = inference.candidates
    same = [other for other in line.listings if other.ranges[mode] == listing.ranges[mode]]
    assert candidate.patches == tuple(p for other in same for p in line.patches_of(other))
    kinds = {evidence.kind for evidence in inference.evidence}
    assert (EvidenceKind.METADATA_VERSION in kinds) == bool(features)


@pytest.mark.parametrize("mode", Mode)
def test_lines_with_different_lists_are_distinguished(mode: Mode) -> None:
    known = [(line, listing) for line, listing, its_mode in every_listing() if its_mode is mode]
    for (left, one), (right, other) in combinations(known, 2):
        same = compared_ranges(one.ranges[mode]) == compared_ranges(other.ranges[mode])
        inference = identify_release(one.ranges[mode])
        if left is not right and not same:
            assert right.name not in inference.lines, (left.name, right.name)


def test_4_0_0_is_distinguished_from_its_later_patch_releases() -> None:
    first = identify_release(listed_ranges("4.0.0"))
    later = identify_release(listed_ranges("4.0.1"))
    assert [str(patch) for patch in first.candidates[0].patches] == ["4.0.0"]
    assert [str(patch) for patch in later.candidates[0].patches] == ["4.0.1", "4.0.2"]


def test_metadata_version_distinguishes_3_3_and_3_4() -> None:
    ranges = listed_ranges("3.4")
    assert identify_release(ranges).lines == ("3.3", "3.4")
    supported = identify_release(ranges, supported_features={METADATA_VERSION: (1, 8)})
    assert supported.line == "3.4"
    assert supported.closest is not None
    assert (supported.closest.line, supported.closest.differences) == ("3.3", ())
    assert supported.closest.evidence is not None
    assert supported.closest.evidence.kind is EvidenceKind.METADATA_VERSION
    finalized = identify_release(ranges, finalized_features={METADATA_VERSION: 8})
    assert finalized.line == "3.4"
    assert finalized.evidence[-1].kind is EvidenceKind.FINALIZED_LEVEL


def test_inter_broker_apis_distinguish_zookeeper_brokers_of_3_3_and_3_4() -> None:
    inference = identify_release(listed_ranges("3.4", Mode.ZOOKEEPER))
    assert inference.line == "3.4"
    kinds = {evidence.kind for evidence in inference.evidence}
    assert EvidenceKind.INTER_BROKER_APIS in kinds


def test_the_closest_release_has_the_differences() -> None:
    inference = identify_release(listed_ranges("4.3"))
    assert inference.closest is not None
    assert inference.closest.line == "4.2"
    [difference] = inference.closest.differences
    assert (difference.api_key, difference.observed, difference.expected) == (35, (1, 5), (1, 4))


@pytest.mark.parametrize(
    "response",
    RESPONSES,
    ids=lambda r: f"{r['release']}-{r['mode']}-v{r['api_version']}-{r['error_code']}",
)
def test_885_4_responses_of_real_brokers_are_identified(response: dict[str, Any]) -> None:
    inference = identify_release(
        {int(key): tuple(pair) for key, pair in response["ranges"].items()},
        supported_features=response["supported"],
        finalized_features=response["finalized"],
        error_code=response["error_code"],
    )
    line = response["release"].rpartition(".")[0]
    assert line in inference.lines
    assert (inference.kind is BrokerKind.APACHE) == (response["error_code"] == 0)
    if response["error_code"] == 0:
        assert inference.candidates[0].inter_broker_differences == ()
        assert inference.line == line
        assert inference.mode == Mode(response["mode"])
        assert Release.parse(response["release"]) in inference.candidates[0].patches


def test_real_responses_cover_all_three_modes() -> None:
    covered = {(r["release"], r["mode"]) for r in RESPONSES if r["error_code"] == 0}
    assert {mode for _, mode in covered} == set(Mode)
    assert len(covered) == 12


def under_controller(broker: str, controller: str) -> Ranges:
    """The list of a broker whose active controller has another release (rolling upgrade)."""
    supported = listed_ranges(controller, Mode.CONTROLLER)
    return {
        key: shared
        for key, range_ in listed_ranges(broker).items()
        if (
            shared := supported.get(key, Range(99, 99)).overlap(range_)
            if known_apis()[key].forwarded
            else range_
        )
    }


@pytest.mark.parametrize(
    "broker", [name for name in KRAFT_LINES if Release.parse(name) >= Release((3, 3))]
)
def test_a_broker_is_identified_during_a_rolling_upgrade(broker: str) -> None:
    for controller in KRAFT_LINES[KRAFT_LINES.index("3.3") : KRAFT_LINES.index(broker)]:
        mixed = under_controller(broker, controller)
        features = release_line(broker).features
        inference = identify_release(mixed, supported_features=features)
        assert inference.line == broker, controller
        [candidate] = inference.candidates
        lowered = compared_ranges(mixed) != compared_ranges(listed_ranges(broker))
        assert (BrokerCondition.OTHER_CONTROLLER in candidate.conditions) == lowered
        assert not lowered or controller in candidate.controllers


def test_an_old_broker_is_identified_under_a_new_controller() -> None:
    inference = identify_release(under_controller("3.9", "4.1"))
    assert inference.line == "3.9"
    assert inference.candidates[0].conditions == (BrokerCondition.OTHER_CONTROLLER,)
    assert "4.1" in inference.candidates[0].controllers
    assert "3.8" not in inference.candidates[0].controllers


@pytest.mark.parametrize("name", [line.name for line in known_release_lines() if line.unstable])
def test_enabled_unstable_versions_are_a_condition_of_the_candidate(name: str) -> None:
    for mode, unstable in release_line(name).unstable.items():
        inference = identify_release({**listed_ranges(name, mode), **unstable})
        assert inference.line == name
        assert inference.candidates[0].conditions == (BrokerCondition.UNSTABLE_APIS,)


@pytest.mark.parametrize("name", ["3.7", "3.9", "4.0", "4.3"])
def test_telemetry_apis_are_a_condition_of_the_candidate(name: str) -> None:
    inference = identify_release({**listed_ranges(name), 71: (0, 0), 72: (0, 0)})
    assert inference.line == name
    assert inference.candidates[0].conditions == (BrokerCondition.TELEMETRY,)


@pytest.mark.parametrize("name", ["0.11", "1.1", "2.5", "3.9"])
def test_an_old_inter_broker_protocol_is_a_condition_of_the_candidate(name: str) -> None:
    ranges = listed_ranges(name, Mode.ZOOKEEPER)
    visible = {key: r for key, r in ranges.items() if key not in TRANSACTION_KEYS | {27}}
    inference = identify_release(visible)
    assert inference.line == name
    assert inference.candidates[0].conditions == (BrokerCondition.OLD_PROTOCOL,)


def test_hidden_inter_broker_apis_are_differences_of_the_candidate() -> None:
    visible = {key: range_ for key, range_ in listed_ranges("3.9").items() if key not in (27, 57)}
    [candidate] = identify_release(visible).candidates
    assert candidate.line == "3.9"
    found = [(diff.api_key, diff.observed) for diff in candidate.inter_broker_differences]
    assert found == [(27, None), (57, None)]


def test_a_list_that_contradicts_metadata_version_has_no_candidates() -> None:
    inference = identify_release(
        listed_ranges("3.9"), supported_features={METADATA_VERSION: (7, 25)}
    )
    assert inference.kind is not BrokerKind.APACHE
    assert inference.candidates == ()


def test_unstable_features_are_a_condition_of_the_candidate() -> None:
    inference = identify_release(
        listed_ranges("4.2"), supported_features={METADATA_VERSION: (7, 30)}
    )
    assert inference.line == "4.2"
    assert inference.candidates[0].conditions == (BrokerCondition.UNSTABLE_FEATURES,)


@pytest.mark.parametrize(
    ("error_code", "ranges", "first", "last"),
    [
        (35, {}, "0.10.0", "2.3"),
        (35, {18: (0, 3)}, "2.4", "3.8"),
        (35, {18: (0, 4)}, "3.9", "4.3"),
        (42, {}, "2.4", "4.3"),
    ],
)
def test_511_2_an_error_response_gives_a_span_of_candidates(
    error_code: int, ranges: dict[int, tuple[int, int]], first: str, last: str
) -> None:
    inference = identify_release(ranges, error_code=error_code)
    assert (inference.lines[0], inference.lines[-1]) == (first, last)
    assert inference.kind is BrokerKind.UNKNOWN
    assert (inference.line, inference.mode) == (None, None)


def test_35_10_brokers_without_api_versions_are_identified_by_their_reaction() -> None:
    assert identify_without_api_versions(closed=True).lines == ("0.8.0", "0.8.1", "0.8.2")
    assert identify_without_api_versions(closed=False).lines == ("0.9",)


@pytest.mark.parametrize(("ranges", "error_code"), [({}, 0), ({}, 58), ({18: (0, 9)}, 77)])
def test_a_response_without_information_has_no_candidates(
    ranges: dict[int, tuple[int, int]], error_code: int
) -> None:
    inference = identify_release(ranges, error_code=error_code)
    assert inference.candidates == ()
    assert inference.kind in (BrokerKind.UNKNOWN, BrokerKind.NEWER)


INFERENCE = identify_release(listed_ranges("3.9"))


@pytest.mark.parametrize(
    ("reported", "configured", "expected"),
    [
        (("Red\x1bpanda", ""), None, (Provenance.REPORTED, "Red\x1bpanda", "")),
        (("Kafka", None), None, (Provenance.REPORTED, "Kafka", None)),
        (("Kafka", None), "2.8", (Provenance.REPORTED, "Kafka", None)),
        ((None, None), "2.8", (Provenance.CONFIGURED, None, "2.8")),
        ((None, None), None, (Provenance.INFERRED, None, None)),
    ],
)
def test_885_4_broker_identity_is_reported_before_configured_before_inferred(
    reported: tuple[str | None, str | None],
    configured: str | None,
    expected: tuple[Provenance, str | None, str | None],
) -> None:
    """885.3: an inferred version is never in the fields of a reported one."""
    identity = identify_broker(*reported, configured=configured, inference=INFERENCE)
    assert (identity.provenance, identity.name, identity.version) == expected
    assert identity.inference is INFERENCE


def test_885_4_broker_identity_without_information_is_missing() -> None:
    assert identify_broker().provenance is Provenance.MISSING
    assert identify_broker(inference=identify_release({})).provenance is Provenance.MISSING
