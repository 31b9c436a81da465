"""Real clients in the request logs of real brokers, and what they are taken for.

`tests/data/inference` holds lines that brokers of 2.8 and 3.9 wrote while clients of some sixty
versions of nine libraries produced, consumed and looked around: of each client the first line per
API and version, and beside them what it was. `real_clients.json` has the same of the clients in
`tests/data/logs`, which are fewer, on brokers of 0.10 to 4.3. None of it was generated.
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
)
from tests.pipeline.parsing.reference_reader import Request, lines_of, read_line

TESTS = Path(__file__).parents[2]
LINES = TESTS / "data" / "inference"
API_VERSIONS = 18
HEARS_NO_NAMES = (0, 2)


@dataclass(frozen=True)
class RealClient:
    """What it was, and all that a broker's log has of it."""

    library: str
    version: str
    setting: str
    """What holds its versions down, if anything does."""
    release: str
    """The broker's."""
    client_id: str | None
    has_default_id: bool
    api_versions: Mapping[int, frozenset[int]]
    told: tuple[str, str | None] | None
    broker_ranges: Mapping[int, tuple[int, int]]

    @property
    def engine(self) -> str:
        library = known_libraries().get(self.library)
        return (library and library.engine) or self.library

    @property
    def is_known(self) -> bool:
        """The catalog has a row for this very version."""
        library = known_libraries().get(self.library)
        return library is not None and any(it.version == self.version for it in library.signatures)

    def as_logged(self) -> LibraryInference:
        return identify_library(
            *(self.told or (None, None)),
            client_id=self.client_id if self.has_default_id else None,
            api_versions=self.api_versions,
            broker_ranges=self.broker_ranges,
        )

    def by_versions(self) -> LibraryInference:
        """As if the broker heard no names, and the application had chosen its client id."""
        deaf = {**self.broker_ranges, API_VERSIONS: HEARS_NO_NAMES}
        return identify_library(api_versions=self.api_versions, broker_ranges=deaf)


class Outcome(StrEnum):
    RIGHT = "right"
    NARROWED = "narrowed"
    """Several candidates, and it is one of them."""
    UNKNOWN = "cannot tell"
    WRONG = "wrong"


def outcome(client: RealClient, guess: LibraryInference) -> Outcome:
    candidates = {candidate.library for candidate in guess.candidates}
    if not candidates:
        return Outcome.UNKNOWN
    if not candidates & {client.library, client.engine}:
        return Outcome.WRONG
    return Outcome.RIGHT if len(candidates) == 1 else Outcome.NARROWED


@dataclass(frozen=True)
class Score:
    """How one library fared."""

    clients: int
    outcomes: Counter[Outcome]
    named: int
    """Clients of any library that were taken for this one."""

    @property
    def precision(self) -> float:
        return self.outcomes[Outcome.RIGHT] / self.named if self.named else 1.0

    @property
    def recall(self) -> float:
        return self.outcomes[Outcome.RIGHT] / self.clients


Judge = Callable[[RealClient], LibraryInference]


def scores(clients: Iterable[RealClient], judge: Judge) -> dict[str, Score]:
    """By library; bindings count as the library they are built on."""
    found: dict[str, Counter[Outcome]] = defaultdict(Counter)
    named: Counter[str] = Counter()
    for client in clients:
        guess = judge(client)
        found[client.engine][outcome(client, guess)] += 1
        if guess.library is not None:
            named[client.engine if guess.library == client.library else guess.library] += 1
    return {
        library: Score(outcomes.total(), outcomes, named[library])
        for library, outcomes in sorted(found.items())
    }


def total(clients: Iterable[RealClient], judge: Judge = RealClient.as_logged) -> Score:
    """Of all libraries together."""
    guesses = [(client, judge(client)) for client in clients]
    outcomes = Counter(outcome(client, guess) for client, guess in guesses)
    return Score(len(guesses), outcomes, sum(guess.library is not None for _, guess in guesses))


@cache
def clients_in_lines() -> tuple[RealClient, ...]:
    """Those of `tests/data/inference`."""
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
            [it for c in label["connections"] for it in requests[label["release"], c]],
            ranges[label["release"]],
        )
        for label in labels
    )


def _client(
    label: Mapping[str, object],
    requests: list[Request],
    ranges: Mapping[int, tuple[int, int]],
) -> RealClient:
    own = [it for it in requests if it.client_id == label["client_id"]]
    versions: dict[int, set[int]] = defaultdict(set)
    for request in own:
        versions[request.api_key].add(request.api_version)
    told = {(it.software_name, it.software_version) for it in own if it.software_name}
    [name] = told or {(None, None)}
    return RealClient(
        library=str(label["library"]),
        version=str(label["version"]),
        setting=str(label["setting"]),
        release=str(label["release"]),
        client_id=own[0].client_id,
        has_default_id=bool(label["default_id"]),
        api_versions={key: frozenset(seen) for key, seen in versions.items()},
        told=None if name[0] is None else (name[0], name[1]),
        broker_ranges=ranges,
    )


@cache
def clients_of_nine_releases() -> tuple[RealClient, ...]:
    """Those of `real_clients.json`."""
    rows = json.loads((Path(__file__).parent / "data" / "real_clients.json").read_text())
    return tuple(
        RealClient(
            library=row["library"],
            version=row["version"],
            setting="",
            release=row["release"],
            client_id=row["client_id"],
            has_default_id=False,
            api_versions={int(key): frozenset(seen) for key, seen in row["api_versions"].items()},
            told=tuple(row["told"]) if row["told"] else None,
            broker_ranges=listed_ranges(row["release"], Mode(row["mode"])),
        )
        for row in rows
    )
