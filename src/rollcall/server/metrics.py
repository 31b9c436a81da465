"""Metrics of a node in Prometheus format.

Connections increment plain counters; they are turned into metrics when Prometheus scrapes.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from rollcall.catalog.apis import api_name
from rollcall.server.refusals import Refusals
from rollcall.server.registry import ConnectionRegistry
from rollcall.server.request_log import RequestLog

UNKNOWN_VERSION: Final = "unknown"
"""Label `version` of ApiVersions requests in unknown versions: a client could send 65,000."""


@dataclass(slots=True)
class Traffic:
    """Bytes received and sent by the connections of one listener."""

    received: int = 0
    sent: int = 0


class Metrics(Collector):
    """Counters of the server. Other components register their collectors at `registry`."""

    def __init__(
        self,
        connections: ConnectionRegistry,
        refusals: Refusals,
        request_log: RequestLog | None,
        *,
        gauge_name: str,
        processor: int,
    ) -> None:
        self.requests: Counter[tuple[str, int, int | str]] = Counter()
        self.authentications: Counter[tuple[str, str, str]] = Counter()
        self.accepted: Counter[str] = Counter()
        self.traffic: defaultdict[str, Traffic] = defaultdict(Traffic)
        """By listener."""
        self._connections = connections
        self._refusals = refusals
        self._request_log = request_log
        self._gauge_name = gauge_name
        self._processor = str(processor)
        self.registry = CollectorRegistry(auto_describe=False)
        self.registry.register(self)

    def count_request(self, listener: str, key: int, version: int | None) -> None:
        self.requests[listener, key, UNKNOWN_VERSION if version is None else version] += 1

    def text(self) -> bytes:
        """All metrics in Prometheus text format."""
        return generate_latest(self.registry)

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        yield self._open_connections()
        yield _counter(
            "rollcall_requests",
            "Completed requests by listener, API and version.",
            ("listener", "api", "version"),
            (
                ((listener, api_name(key), version), count)
                for (listener, key, version), count in self.requests.items()
            ),
        )
        yield _counter(
            "rollcall_refused",
            "Refused connections and requests by listener and reason.",
            ("listener", "reason"),
            self._refusals.counts.items(),
        )
        yield _counter(
            "rollcall_authentications",
            "SASL authentications by listener, mechanism and result.",
            ("listener", "mechanism", "result"),
            self.authentications.items(),
        )
        received = {name: traffic.received for name, traffic in self.traffic.items()}
        sent = {name: traffic.sent for name, traffic in self.traffic.items()}
        for name, help_text, counts in (
            ("rollcall_connections_accepted", "Connections accepted by listener.", self.accepted),
            ("rollcall_received_bytes", "Bytes received by listener.", received),
            ("rollcall_sent_bytes", "Bytes sent by listener.", sent),
        ):
            by_listener = (((listener,), count) for listener, count in counts.items())
            yield _counter(name, help_text, ("listener",), by_listener)
        if self._request_log is not None:
            yield CounterMetricFamily(
                "rollcall_request_log_dropped",
                "Request log lines dropped because the queue was full or the disk failed.",
                value=self._request_log.dropped,
            )

    def _open_connections(self) -> GaugeMetricFamily:
        gauge = GaugeMetricFamily(
            self._gauge_name,
            "Open connections by client software name and version (KIP-511).",
            labels=("clientSoftwareName", "clientSoftwareVersion", "listener", "networkProcessor"),
        )
        for label, count in self._connections.gauge.counts.items():
            gauge.add_metric((*label, self._processor), count)
        return gauge


def _counter(
    name: str,
    help_text: str,
    labels: tuple[str, ...],
    counts: Iterable[tuple[Sequence[object], int]],
) -> CounterMetricFamily:
    family = CounterMetricFamily(name, help_text, labels=labels)
    for values, count in counts:
        family.add_metric([str(value) for value in values], count)
    return family
