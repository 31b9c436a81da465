"""Which client sends which request in which line, as small tables for Spark.

The lines of a broker are divided into rounds. In each round every client has as many places as its
weight, always the same ones. So the number of a line determines the client, how many requests it
sent before, and thereby the connection and the step of its script. No state passes from line to
line, so any number of tasks writes the same logs.
"""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from rollcall.catalog import Release
from rollcall.catalog.clients.signatures import API_VERSIONS
from rollcall.errors import ConfigError
from rollcall.loggen.bodies import PEER, PLACEHOLDERS, BodyContext, BrokerEndpoint
from rollcall.loggen.fleet import (
    CONTROLLER,
    FORWARDED,
    MIXED,
    PORTS,
    REPLICA,
    Broker,
    Client,
    Fleet,
    make_fleet,
    releases_of,
)
from rollcall.loggen.scripts import (
    FETCH,
    JOIN_GROUP,
    METADATA,
    PRODUCE,
    ConnectionScript,
    RequestStep,
    script_for,
)
from rollcall.loggen.templates import template
from rollcall.pipeline.parsing.prefix import LAST_DAY

MIN_HOURS = 2
LINES_PER_FILE = 500_000
NULL_IDS = ((Release((0, 8)), Release((0, 11))), (Release((2, 4)), Release((3, 1))))
"""Releases that print a missing client id as null; others print an empty string."""
SANITIZED_IDS = Release((0, 11))
THROTTLED_MS = 350
ERROR = 25
"""UNKNOWN_MEMBER_ID, for a client that is removed from its group repeatedly."""

# topics and partitions of a body; `CUMULATIVE_SHARES` has the frequency of each shape
SHAPES = {
    FETCH: ((1, 1), (1, 1), (1, 2), (1, 4), (2, 6), (4, 20)),
    METADATA: ((1, 1), (1, 3), (1, 6), (2, 6), (6, 12), (40, 12)),
}
SHAPE = ((1, 1), (1, 1), (1, 2), (2, 2))
CUMULATIVE_SHARES = (600, 840, 940, 980, 995, 1000)
"""Of 1,000 lines, those with this shape or one before it."""
LISTED_BROKERS = 12
LATEST = datetime(1970, 1, 1) + timedelta(days=LAST_DAY)  # noqa: DTZ001 - logs have no time zone
"""The parser rejects lines of this day and later."""


@dataclass(frozen=True, kw_only=True)
class GenerateSettings:
    lines: int
    seed: int = 7
    form: str = MIXED
    brokers: int = 12
    start: datetime = datetime(2026, 11, 1, 10)  # noqa: DTZ001 - logs have no time zone
    hours: int | None = None

    def __post_init__(self) -> None:
        releases_of(self.form)
        if self.lines < 1:
            raise ConfigError(f"--lines is {self.lines}", hint="use 1 or more")
        if not 1 <= self.brokers <= 10_000:
            raise ConfigError(f"--brokers is {self.brokers}", hint="use 1 to 10,000")
        if self.hours is not None and self.hours < 1:
            raise ConfigError(f"--hours is {self.hours}", hint="use 1 or more")
        if self.hours_per_broker > (LATEST - self.start).total_seconds() // 3600:
            raise ConfigError(
                f"{self.hours_per_broker:,} hours from {self.start:%Y-%m-%d %H}:00 end after "
                f"{LATEST:%Y-%m-%d}",
                hint="use an earlier --start or fewer --hours",
            )

    @property
    def hours_per_broker(self) -> int:
        """As given, or enough that no file has more than `LINES_PER_FILE` lines."""
        needed = -(-self.lines // (self.brokers * LINES_PER_FILE))
        return self.hours or max(MIN_HOURS, needed)

    @property
    def files(self) -> int:
        return self.brokers * self.hours_per_broker


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A file of one broker and hour with the line numbers from `first` up to `end`."""

    number: int
    broker: Broker
    hour: datetime
    first: int
    end: int
    first_of_broker: int

    @property
    def name(self) -> str:
        return f"{self.broker.directory}/kafka-request.log.{self.hour:%Y-%m-%d-%H}"


class LogPlan:
    def __init__(self, settings: GenerateSettings) -> None:
        self.settings = settings
        self.fleet: Fleet = make_fleet(
            seed=settings.seed, form=settings.form, brokers=settings.brokers
        )
        self.releases = sorted({broker.release for broker in self.fleet.brokers})

    @cached_property
    def files(self) -> tuple[PlannedFile, ...]:
        hours, lines = self.settings.hours_per_broker, self.settings.lines
        count = self.settings.files
        return tuple(
            PlannedFile(
                number=number,
                broker=self.fleet.brokers[number // hours],
                hour=self.settings.start + timedelta(hours=number % hours),
                first=number * lines // count,
                end=(number + 1) * lines // count,
                first_of_broker=number // hours * hours * lines // count,
            )
            for number in range(count)
        )

    @cached_property
    def round(self) -> tuple[int, ...]:
        """The index of the client at each place of a round."""
        places = [i for i, client in enumerate(self.fleet.clients) for _ in range(client.weight)]
        random.Random(self.settings.seed).shuffle(places)  # noqa: S311
        return tuple(places)

    @cached_property
    def scripts(self) -> dict[tuple[int, int], tuple[int, ConnectionScript]]:
        """The script of each release and client, with its number within the release."""
        found: dict[tuple[int, int], tuple[int, ConnectionScript]] = {}
        for release_index, release in enumerate(self.releases):
            numbers: dict[ConnectionScript, int] = {}
            for client_index, client in enumerate(self.fleet.clients):
                script = script_for(client, release)
                number = numbers.setdefault(script, len(numbers))
                found[release_index, client_index] = (number, script)
        return found

    @cached_property
    def step_numbers(self) -> dict[tuple[int, RequestStep], tuple[int, int]]:
        """The number of the first template of each release and step, and how many it has."""
        found: dict[tuple[int, RequestStep], tuple[int, int]] = {}
        total = 0
        for (release_index, _), (_, script) in self.scripts.items():
            for step in script.steps:
                if (release_index, step) not in found:
                    count = len(shapes_of(step))
                    found[release_index, step] = (total, count)
                    total += count
        return found

    # The rows of the tables, with the columns that `lines` declares.

    def file_rows(self) -> Iterator[tuple[object, ...]]:
        for file in self.files:
            broker = file.broker
            yield (
                file.number,
                self.releases.index(broker.release),
                broker.id,
                broker.form,
                broker.release >= Release((2, 6)),
                broker.release >= Release((4, 0)),
                broker.address,
                broker.address_v6,
                "," if broker.decimal_comma else ".",
                f"[{file.hour:%Y-%m-%d %H}:",
                file.first,
                file.end - file.first,
                file.first_of_broker,
            )

    def round_rows(self) -> Iterator[tuple[object, ...]]:
        earlier: Counter[int] = Counter()
        for place, client in enumerate(self.round):
            yield (place, client, earlier[client], self.fleet.clients[client].weight)
            earlier[client] += 1

    def client_rows(self) -> Iterator[tuple[object, ...]]:
        for (release_index, client_index), (number, script) in self.scripts.items():
            client = self.fleet.clients[client_index]
            release = self.releases[release_index]
            name, version = client.software_reported or ("unknown", "unknown")
            yield (
                release_index,
                client_index,
                printed_id(client, release),
                client.principal,
                listener_of(client, release),
                client.protocol,
                PORTS[listener_of(client, release)],
                client.host,
                ":" in client.host,
                int(client.host) if client.role == REPLICA else -1,
                client.role in (CONTROLLER, FORWARDED),
                client.group,
                client.member,
                name,
                version,
                -1 if script.named_from is None else script.named_from,
                client.connection_requests,
                len(script.opening),
                len(script.cycle),
                number,
                *client.ports,
                0 if client.library == "apache-kafka-java" else 1,
            )

    def step_rows(self) -> Iterator[tuple[object, ...]]:
        seen = set()
        for (release_index, _), (number, script) in self.scripts.items():
            if (release_index, number) in seen:
                continue
            seen.add((release_index, number))
            for slot, step in enumerate(script.steps):
                first, count = self.step_numbers[release_index, step]
                remote_us = {FETCH: 500_000, PRODUCE: 4_000, JOIN_GROUP: 2_000_000}.get(step.key, 0)
                converts = step.key == PRODUCE and step.version < 2
                throttle = THROTTLED_MS * step.error
                yield (release_index, number, slot, first, count, remote_us, converts, throttle)

    def template_rows(self) -> Iterator[tuple[object, ...]]:
        for (release_index, step), (first, _) in self.step_numbers.items():
            for shape, (topics, partitions) in enumerate(shapes_of(step)):
                line = template(
                    step.key,
                    self.context(self.releases[release_index], step, topics, partitions, shape),
                    forwarded=step.forwarded,
                )
                parts = split_at_placeholders(line.after)
                yield (first + shape, line.before, line.between, line.client_first, parts)

    def context(
        self, release: Release, step: RequestStep, topics: int, partitions: int, shape: int
    ) -> BodyContext:
        names = self.fleet.topics
        chosen = [names[(shape * 5 + other) % len(names)] for other in range(topics)]
        return BodyContext(
            release=release,
            version=step.version,
            as_json=release >= Release((2, 8)),
            topics=chosen,
            partitions=partitions,
            brokers=self.listed_brokers,
            replica=step.replica,
            error=ERROR if step.error else 0,
            throttle=THROTTLED_MS if step.error else 0,
            unsupported=step.unsupported,
        )

    @cached_property
    def listed_brokers(self) -> Sequence[BrokerEndpoint]:
        return [broker.endpoint for broker in self.fleet.brokers[:LISTED_BROKERS]]


def split_at_placeholders(text: str) -> list[dict[str, str]]:
    """Each piece of a text with the placeholder that follows it, empty after the last piece."""
    pieces = re.split(f"([{PLACEHOLDERS}])", text)
    placeholders = [*pieces[1::2], ""]
    return [
        {"text": text, "placeholder": placeholder}
        for text, placeholder in zip(pieces[::2], placeholders, strict=True)
    ]


def shapes_of(step: RequestStep) -> Sequence[tuple[int, int]]:
    if step.key == API_VERSIONS:
        return ((1, 1),)
    return SHAPES.get(step.key, SHAPE)


def listener_of(client: Client, release: Release) -> str:
    """Releases before KRaft have no controller listener."""
    if client.listener == "CONTROLLER" and release < Release((2, 8)):
        return "REPLICATION"
    return client.listener


def printed_id(client: Client, release: Release) -> str:
    """The client id as this release prints it."""
    as_json = release >= Release((2, 8))
    text = client_id_at(client, release)
    if text is None:
        null = any(first <= release < end for first, end in NULL_IDS)
        return "null" if null else '""' if as_json else ""
    return json.dumps(text, ensure_ascii=False) if as_json else text


def client_id_at(client: Client, release: Release) -> str | None:
    match client.role:
        case "replica":
            return f"broker-{PEER}-fetcher-0"
        case "controller":
            return "0"
        case "forwarded":
            return "billing-admin-1"
    if client.client_id and release.within(SANITIZED_IDS):
        return "".join(c for c in client.client_id if c not in ',="\\\n')
    return client.client_id
