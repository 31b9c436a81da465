"""Expected counts: what each client sent, computed from the plan without reading the lines.

The places of a client in a round determine its number of requests, its script the requests. The
tables of a pipeline run can be compared with these counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from rollcall.catalog import Release, listed_ranges
from rollcall.loggen.fleet import Broker, Client
from rollcall.loggen.lines import PORT_COUNT
from rollcall.loggen.plan import LogPlan, client_id_at
from rollcall.loggen.scripts import ConnectionScript, RequestStep, sends_software


class ExpectedCounts:
    def __init__(self, plan: LogPlan) -> None:
        self.plan = plan

    def as_json(self) -> dict[str, Any]:
        settings = self.plan.settings
        return {
            "lines": settings.lines,
            "seed": settings.seed,
            "form": settings.form,
            "time_zone": "UTC",
            "start": settings.start.isoformat(),
            "hours": settings.hours_per_broker,
            "brokers": [self.broker(broker) for broker in self.plan.fleet.brokers],
            "clients": [self.client(index) for index in range(len(self.plan.fleet.clients))],
            "files": {
                file.name: file.end - file.first
                for file in self.plan.files
                if file.end > file.first
            },
        }

    def broker(self, broker: Broker) -> dict[str, Any]:
        return {
            "id": broker.id,
            "directory": broker.directory,
            "release": str(broker.release),
            "form": broker.form,
            "addresses": [broker.address, broker.address_v6],
            "lines": self.lines[broker.id],
            "ranges": {
                str(key): [versions.low, versions.high]
                for key, versions in listed_ranges(broker.release).items()
            },
        }

    @cached_property
    def lines(self) -> Mapping[int, int]:
        lines: Counter[int] = Counter()
        for file in self.plan.files:
            lines[file.broker.id] += file.end - file.first
        return lines

    @cached_property
    def places(self) -> Mapping[int, list[int]]:
        places: dict[int, list[int]] = {}
        for place, client in enumerate(self.plan.round):
            places.setdefault(client, []).append(place)
        return places

    def client(self, index: int) -> dict[str, Any]:
        client = self.plan.fleet.clients[index]
        brokers = self.plan.fleet.brokers
        sent = [found for broker in brokers if (found := self.sent(index, broker))]
        return {
            "application": client.application,
            "owner": client.owner,
            "principal": client.principal,
            "client_id": client.client_id,
            "listener": client.listener,
            "host": client.host if client.owner != "kafka" else None,
            "library": client.library or None,
            "library_version": client.library_version or None,
            "software": list(client.software_reported) if client.software_reported else None,
            "role": client.role,
            "behaviour": client.behaviour,
            "pinned": client.pinned,
            "requests": sum(found["requests"] for found in sent),
            "brokers": sent,
        }

    def requests(self, index: int, broker: Broker) -> int:
        """The client's lines at a broker: complete rounds and a part of the last one."""
        rounds, rest = divmod(self.lines[broker.id], len(self.plan.round))
        places = self.places[index]
        return rounds * len(places) + sum(place < rest for place in places)

    def sent(self, index: int, broker: Broker) -> dict[str, Any] | None:
        requests = self.requests(index, broker)
        if not requests:
            return None
        client = self.plan.fleet.clients[index]
        _, script = self.plan.scripts[self.plan.releases.index(broker.release), index]
        steps, named = Counter[RequestStep](), 0
        complete, rest = divmod(requests, client.connection_requests)
        for length, times in ((client.connection_requests, complete), (rest, 1)):
            for step, count in _counted(script, length):
                steps[step] += count * times
            named += _named(script, client, broker.release, length) * times
        # forms before F print no connection number, so connections on one port are the same
        max_connections = PORT_COUNT if broker.form < "F" else requests
        return {
            "broker": broker.id,
            "client_id": client_id_at(client, broker.release),
            "requests": requests,
            "named": named,
            "connections": min(complete + bool(rest), max_connections),
            "apis": _by_api(steps),
        }


def _counted(script: ConnectionScript, length: int) -> Iterator[tuple[RequestStep, int]]:
    """The steps of the first `length` requests of a connection, counted."""
    for step in script.opening[:length]:
        yield step, 1
    rounds, rest = divmod(max(0, length - len(script.opening)), len(script.cycle))
    for place, step in enumerate(script.cycle):
        yield step, rounds + (place < rest)


def _named(script: ConnectionScript, client: Client, release: Release, length: int) -> int:
    """Lines with the software name in their own field, or in an ApiVersions body."""
    by_field = 0 if script.named_from is None else max(0, length - script.named_from)
    if client.software_reported is None or release < Release((2, 4)):
        return by_field
    before = length if script.named_from is None else min(length, script.named_from)
    in_body = [
        sends_software(script.steps[script.step_index(request)])
        for request in range(min(before, len(script.opening)))
    ]
    if script.named_from is None and length > len(script.opening):
        rounds, rest = divmod(length - len(script.opening), len(script.cycle))
        in_cycle = [sends_software(step) for step in script.cycle]
        return sum(in_body) + rounds * sum(in_cycle) + sum(in_cycle[:rest])
    return by_field + sum(in_body)


def _by_api(steps: Counter[RequestStep]) -> dict[str, dict[str, int]]:
    apis: dict[str, dict[str, int]] = {}
    for step in sorted(steps, key=lambda step: (step.key, step.version)):
        count = steps[step]
        if count:
            versions = apis.setdefault(str(step.key), {})
            versions[str(step.version)] = versions.get(str(step.version), 0) + count
    return apis
