"""Which release is this broker: every release knows itself, and nobody else."""

import json
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from rollcall.catalog.apis import Mode, known_apis
from rollcall.catalog.brokers.fingerprints import TRANSACTION_KEYS, BrokerCondition, telling
from rollcall.catalog.brokers.identify import identify_release, identify_without_api_versions
from rollcall.catalog.brokers.result import BrokerKind, EvidenceKind
from rollcall.catalog.brokers.unmatched import METADATA_VERSION
from rollcall.catalog.provenance import Provenance
from rollcall.catalog.ranges import Range, Ranges
from rollcall.catalog.releases.api_ranges import listed_ranges
from rollcall.catalog.releases.release import Listing, Release, ReleaseLine
from rollcall.catalog.releases.release_lines import known_release_lines

ANSWERS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parent / "data" / "real_answers.json").read_text()
)

SAME_LIST = {
    ("3.3", Mode.KRAFT): {"3.3", "3.4"},
    ("3.4", Mode.KRAFT): {"3.3", "3.4"},
    ("3.7", Mode.CONTROLLER): {"3.7", "3.8"},
    ("3.8", Mode.CONTROLLER): {"3.7", "3.8"},
}


def every_list() -> Iterator[tuple[ReleaseLine, Listing, Mode]]:
    for line in known_release_lines():
        for listing in line.listings if line.advertised else ():
            for mode in listing.listed:
                yield line, listing, mode


def features_of(line: ReleaseLine, mode: Mode) -> dict[str, Range]:
    return {} if mode is Mode.ZOOKEEPER else dict(line.features)


LISTS = [pytest.param(*it, id=f"{it[1].since}-{it[2]}") for it in every_list()]


@pytest.mark.parametrize(("line", "listing", "mode"), LISTS)
def test_885_4_every_list_is_identified_as_its_own_line(
    line: ReleaseLine, listing: Listing, mode: Mode
) -> None:
    inference = identify_release(listing.listed[mode])
    assert inference.kind is BrokerKind.APACHE
    assert inference.provenance is Provenance.INFERRED
    assert set(inference.lines) == SAME_LIST.get((line.name, mode), {line.name})
    assert inference.mode is mode
    assert all(not candidate.conditions for candidate in inference.candidates)


@pytest.mark.parametrize(("line", "listing", "mode"), LISTS)
def test_885_4_with_its_features_no_list_is_ambiguous(
    line: ReleaseLine, listing: Listing, mode: Mode
) -> None:
    features = features_of(line, mode)
    inference = identify_release(listing.listed[mode], supported_features=features)
    assert inference.line == line.name
    (candidate,) = inference.candidates
    same = [it for it in line.listings if it.listed[mode] == listing.listed[mode]]
    assert candidate.patches == tuple(p for it in same for p in line.patches_of(it))
    assert (EvidenceKind.METADATA_VERSION in {it.kind for it in inference.evidence}) == bool(
        features
    )


@pytest.mark.parametrize("mode", Mode)
def test_every_pair_of_lines_that_differ_is_told_apart(mode: Mode) -> None:
    known = [(line, listing) for line, listing, its_mode in every_list() if its_mode is mode]
    for (left, one), (right, other) in combinations(known, 2):
        same = telling(one.listed[mode]) == telling(other.listed[mode])
        inference = identify_release(one.listed[mode])
        if left is not right and not same:
            assert right.name not in inference.lines, (left.name, right.name)


def test_4_0_0_is_told_from_its_later_patches() -> None:
    first = identify_release(listed_ranges("4.0.0"))
    later = identify_release(listed_ranges("4.0.1"))
    assert [str(patch) for patch in first.candidates[0].patches] == ["4.0.0"]
    assert [str(patch) for patch in later.candidates[0].patches] == ["4.0.1", "4.0.2"]


def test_3_3_and_3_4_differ_in_metadata_version_only() -> None:
    ranges = listed_ranges("3.4")
    assert identify_release(ranges).lines == ("3.3", "3.4")
    told = identify_release(ranges, supported_features={METADATA_VERSION: (1, 8)})
    assert told.line == "3.4"
    assert told.closest is not None
    assert (told.closest.line, told.closest.differences) == ("3.3", ())
    assert told.closest.evidence is not None
    assert told.closest.evidence.kind is EvidenceKind.METADATA_VERSION
    finalized = identify_release(ranges, finalized_features={METADATA_VERSION: 8})
    assert finalized.line == "3.4"
    assert finalized.evidence[-1].kind is EvidenceKind.FINALIZED_LEVEL


def test_zookeeper_3_3_and_3_4_differ_in_keys_that_only_brokers_use() -> None:
    inference = identify_release(listed_ranges("3.4", Mode.ZOOKEEPER))
    assert inference.line == "3.4"
    assert EvidenceKind.INTER_BROKER_APIS in {it.kind for it in inference.evidence}


def test_the_next_best_says_what_speaks_against_it() -> None:
    inference = identify_release(listed_ranges("4.3"))
    assert inference.closest is not None
    assert inference.closest.line == "4.2"
    (difference,) = inference.closest.differences
    assert (difference.api_key, difference.observed, difference.expected) == (35, (1, 5), (1, 4))


@pytest.mark.parametrize(
    "answer",
    ANSWERS,
    ids=lambda a: f"{a['release']}-{a['mode']}-v{a['api_version']}-{a['error_code']}",
)
def test_885_4_answers_of_real_brokers_are_identified(answer: dict[str, Any]) -> None:
    inference = identify_release(
        {int(key): tuple(pair) for key, pair in answer["ranges"].items()},
        supported_features=answer["supported"],
        finalized_features=answer["finalized"],
        error_code=answer["error_code"],
    )
    line = answer["release"].rpartition(".")[0]
    assert line in inference.lines
    assert (inference.kind is BrokerKind.APACHE) == (answer["error_code"] == 0)
    if answer["error_code"] == 0:
        assert inference.candidates[0].inter_broker_differences == ()
        assert inference.line == line
        assert inference.mode == Mode(answer["mode"])
        assert Release.parse(answer["release"]) in inference.candidates[0].patches


def test_real_answers_cover_all_three_modes() -> None:
    seen = {(a["release"], a["mode"]) for a in ANSWERS if a["error_code"] == 0}
    assert {mode for _, mode in seen} == set(Mode)
    assert len(seen) == 12


def under_controller(broker: str, controller: str) -> Ranges:
    """What a broker lists in a rolling upgrade: of forwarded APIs, what the controller has too."""
    have = listed_ranges(controller, Mode.CONTROLLER)
    return {
        key: shared
        for key, range_ in listed_ranges(broker).items()
        if (
            shared := have.get(key, Range(99, 99)).overlap(range_)
            if known_apis()[key].forwarded
            else range_
        )
    }


KRAFT = [line.name for line in known_release_lines() if Mode.KRAFT in line.modes]


@pytest.mark.parametrize(
    "broker", [name for name in KRAFT if Release.parse(name) >= Release((3, 3))]
)
def test_a_broker_in_a_rolling_upgrade_is_still_identified(broker: str) -> None:
    for controller in KRAFT[KRAFT.index("3.3") : KRAFT.index(broker)]:
        mixed = under_controller(broker, controller)
        features = dict(
            known_release_lines()[
                [line.name for line in known_release_lines()].index(broker)
            ].features
        )
        inference = identify_release(mixed, supported_features=features)
        assert inference.line == broker, controller
        (candidate,) = inference.candidates
        lowered = telling(mixed) != telling(listed_ranges(broker))
        assert (BrokerCondition.OTHER_CONTROLLER in candidate.conditions) == lowered
        assert not lowered or controller in candidate.controllers


def test_an_old_broker_under_a_new_controller_is_still_identified() -> None:
    inference = identify_release(under_controller("3.9", "4.1"))
    assert inference.line == "3.9"
    assert inference.candidates[0].conditions == (BrokerCondition.OTHER_CONTROLLER,)
    assert "4.1" in inference.candidates[0].controllers
    assert "3.8" not in inference.candidates[0].controllers


@pytest.mark.parametrize("name", [line.name for line in known_release_lines() if line.unstable])
def test_unstable_versions_that_are_switched_on_are_named(name: str) -> None:
    line = next(line for line in known_release_lines() if line.name == name)
    for mode, unstable in line.unstable.items():
        inference = identify_release({**listed_ranges(name, mode), **unstable})
        assert inference.line == name
        assert inference.candidates[0].conditions == (BrokerCondition.UNSTABLE_APIS,)


@pytest.mark.parametrize("name", ["3.7", "3.9", "4.0", "4.3"])
def test_telemetry_does_not_hide_the_release(name: str) -> None:
    inference = identify_release({**listed_ranges(name), 71: (0, 0), 72: (0, 0)})
    assert inference.line == name
    assert inference.candidates[0].conditions == (BrokerCondition.TELEMETRY,)


@pytest.mark.parametrize("name", ["0.11", "1.1", "2.5", "3.9"])
def test_an_old_inter_broker_protocol_hides_transactions_and_no_more(name: str) -> None:
    ranges = listed_ranges(name, Mode.ZOOKEEPER)
    hidden = {key: r for key, r in ranges.items() if key not in TRANSACTION_KEYS | {27}}
    inference = identify_release(hidden)
    assert inference.line == name
    assert inference.candidates[0].conditions == (BrokerCondition.OLD_PROTOCOL,)


def test_keys_that_only_brokers_use_may_be_hidden_and_that_is_told() -> None:
    hidden = {key: range_ for key, range_ in listed_ranges("3.9").items() if key not in (27, 57)}
    (candidate,) = identify_release(hidden).candidates
    assert candidate.line == "3.9"
    assert [(it.api_key, it.observed) for it in candidate.inter_broker_differences] == [
        (27, None),
        (57, None),
    ]


def test_a_metadata_version_that_the_list_contradicts_is_the_brokers_behind_a_proxy() -> None:
    inference = identify_release(
        listed_ranges("3.9"), supported_features={METADATA_VERSION: (7, 25)}
    )
    assert inference.kind is not BrokerKind.APACHE
    assert inference.candidates == ()


def test_unstable_features_raise_metadata_version() -> None:
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
def test_511_2_an_error_answer_tells_a_span_of_releases(
    error_code: int, ranges: dict[int, tuple[int, int]], first: str, last: str
) -> None:
    inference = identify_release(ranges, error_code=error_code)
    assert (inference.lines[0], inference.lines[-1]) == (first, last)
    assert inference.kind is BrokerKind.UNKNOWN
    assert (inference.line, inference.mode) == (None, None)


def test_35_10_brokers_without_api_versions_are_told_by_how_they_refuse_it() -> None:
    assert identify_without_api_versions(closed=True).lines == ("0.8.0", "0.8.1", "0.8.2")
    assert identify_without_api_versions(closed=False).lines == ("0.9",)


@pytest.mark.parametrize(("ranges", "error_code"), [({}, 0), ({}, 58), ({18: (0, 9)}, 77)])
def test_nothing_is_made_up_where_nothing_is_known(
    ranges: dict[int, tuple[int, int]], error_code: int
) -> None:
    inference = identify_release(ranges, error_code=error_code)
    assert inference.candidates == ()
    assert inference.kind in (BrokerKind.UNKNOWN, BrokerKind.NEWER)
