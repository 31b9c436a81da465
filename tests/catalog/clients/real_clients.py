"""Real clients in request logs of real brokers, and how well their libraries are identified.

`tests/data/inference` contains log lines of 2.8 and 3.9 brokers that were used by clients of about
sixty versions of nine libraries: the first line per client, API and version, and a file with the
library of each client. `real_clients.json` contains the clients of `tests/data/logs`, which are
fewer, on brokers of 0.10 to 4.3. Nothing is generated.
"""

import gzip
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

from rollcall.catalog import (
    LibraryInference,
    Mode,
    identify_library,
    known_libraries,
    listed_ranges,
    parse_version,
)
from tests.pipeline.parsing.reference_reader import Request, lines_of, read_line

TESTS = Path(__file__).parents[2]
LINES = TESTS / "data" / "inference"
API_VERSIONS = 18
WITHOUT_NAMES = (0, 2)
"""The ApiVersions range of a broker before KIP-511."""


@dataclass(frozen=True)
class RealClient:
    """The library of a client, and what the broker logged about it."""

    library: str
    version: str
    setting: str
    """The setting that pins its API versions; empty if none."""
    release: str
    """The release of the broker."""
    client_id: str | None
    has_default_id: bool
    api_versions: Mapping[int, frozenset[int]]
    reported: tuple[str, str | None] | None
    """The software name and version that it reported."""
    broker_ranges: Mapping[int, tuple[int, int]]

    @property
    def engine(self) -> str:
        library = known_libraries().get(self.library)
        return (library and library.engine) or self.library

    @property
    def is_known(self) -> bool:
        """Whether the catalog has a signature of this version."""
        library = known_libraries().get(self.library)
        return library is not None and any(
            signature.version == parse_version(self.version) for signature in library.signatures
        )

    def as_logged(self) -> LibraryInference:
        return identify_library(
            *(self.reported or (None, None)),
            client_id=self.client_id if self.has_default_id else None,
            api_versions=self.api_versions,
            broker_ranges=self.broker_ranges,
        )

    def by_versions(self) -> LibraryInference:
        """The result without a software name and without a default client id."""
        ranges = {**self.broker_ranges, API_VERSIONS: WITHOUT_NAMES}
        return identify_library(api_versions=self.api_versions, broker_ranges=ranges)


class Outcome(StrEnum):
    RIGHT = "right"
    NARROWED = "narrowed"
    """Several candidates that include the right library."""
    UNKNOWN = "unknown"
    WRONG = "wrong"


def outcome(client: RealClient, inference: LibraryInference) -> Outcome:
    candidates = {candidate.library for candidate in inference.candidates}
    if not candidates:
        return Outcome.UNKNOWN
    if not candidates & {client.library, client.engine}:
        return Outcome.WRONG
    return Outcome.RIGHT if len(candidates) == 1 else Outcome.NARROWED


@dataclass(frozen=True)
class Score:
    """The results for the clients of one library."""

    clients: int
    outcomes: Counter[Outcome]
    named: int
    """Clients of any library that were identified as this one."""

    @property
    def precision(self) -> float:
        return self.outcomes[Outcome.RIGHT] / self.named if self.named else 1.0

    @property
    def recall(self) -> float:
        return self.outcomes[Outcome.RIGHT] / self.clients


Judge = Callable[[RealClient], LibraryInference]


def scores(clients: Iterable[RealClient], judge: Judge) -> dict[str, Score]:
    """Scores by library; a binding counts as its engine."""
    found: dict[str, Counter[Outcome]] = defaultdict(Counter)
    named: Counter[str] = Counter()
    for client in clients:
        inference = judge(client)
        found[client.engine][outcome(client, inference)] += 1
        if inference.library is not None:
            is_right = inference.library == client.library
            named[client.engine if is_right else inference.library] += 1
    return {
        library: Score(outcomes.total(), outcomes, named[library])
        for library, outcomes in sorted(found.items())
    }


def total(clients: Iterable[RealClient], judge: Judge = RealClient.as_logged) -> Score:
    """The score of all libraries together."""
    inferences = [(client, judge(client)) for client in clients]
    outcomes = Counter(outcome(client, inference) for client, inference in inferences)
    named = sum(inference.library is not None for _, inference in inferences)
    return Score(len(inferences), outcomes, named)


@cache
def clients_in_lines() -> tuple[RealClient, ...]:
    """The clients of `tests/data/inference`."""
    requests: dict[tuple[str, str], list[Request]] = defaultdict(list)
    ranges: dict[str, Mapping[int, tuple[int, int]]] = {}
    for path in sorted(LINES.glob("*.log.gz")):
        release = path.name.removesuffix(".log.gz")
        for request in filter(None, map(read_line, lines_of(path))):
            requests[release, request.connection].append(request)
            if request.ranges:
                ranges[release] = {key: (low, high) for key, low, high in request.ranges}
    labels = json.loads(gzip.decompress((LINES / "clients.json.gz").read_bytes()))
    return tuple(
        _client(
            label,
            [
                request
                for connection in label["connections"]
                for request in requests[label["release"], connection]
            ],
            ranges[label["release"]],
        )
        for label in labels
    )


def _client(
    label: Mapping[str, object],
    requests: list[Request],
    ranges: Mapping[int, tuple[int, int]],
) -> RealClient:
    own = [request for request in requests if request.client_id == label["client_id"]]
    versions: dict[int, set[int]] = defaultdict(set)
    for request in own:
        versions[request.api_key].add(request.api_version)
    reported = {(r.software_name, r.software_version) for r in own if r.software_name}
    [name] = reported or {(None, None)}
    return RealClient(
        library=str(label["library"]),
        version=str(label["version"]),
        setting=str(label["setting"]),
        release=str(label["release"]),
        client_id=own[0].client_id,
        has_default_id=bool(label["default_id"]),
        api_versions={key: frozenset(used) for key, used in versions.items()},
        reported=None if name[0] is None else (name[0], name[1]),
        broker_ranges=ranges,
    )


@cache
def clients_of_nine_releases() -> tuple[RealClient, ...]:
    """The clients of `real_clients.json`."""
    rows = json.loads((Path(__file__).parent / "data" / "real_clients.json").read_text())
    return tuple(
        RealClient(
            library=row["library"],
            version=row["version"],
            setting="",
            release=row["release"],
            client_id=row["client_id"],
            has_default_id=False,
            api_versions={int(key): frozenset(used) for key, used in row["api_versions"].items()},
            reported=tuple(row["reported"]) if row["reported"] else None,
            broker_ranges=listed_ranges(row["release"], Mode(row["mode"])),
        )
        for row in rows
    )
