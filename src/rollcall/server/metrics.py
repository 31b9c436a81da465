"""The metrics of a node in Prometheus form.

The counts are plain numbers that connections add to; they become metrics when somebody asks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from rollcall.catalog.apis import api_name
from rollcall.server.refusals import Refusals
from rollcall.server.registry import ConnectionRegistry
from rollcall.server.request_log import RequestLog

UNKNOWN_VERSION: Final = "unknown"
"""The version label of ApiVersions in a version nobody knows: there are 65,000 to choose from."""


class Metrics(Collector):
    """`registry` is the node's own: others may register what they have to tell there, too."""

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
        self.received_bytes: Counter[str] = Counter()
        self.sent_bytes: Counter[str] = Counter()
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
        """All of them, as Prometheus reads it."""
        return generate_latest(self.registry)

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        yield self._open_connections()
        yield _counter(
            "rollcall_requests",
            "Requests that were answered, by API and version.",
            ("listener", "api", "version"),
            (
                ((listener, api_name(key), version), count)
                for (listener, key, version), count in self.requests.items()
            ),
        )
        yield _counter(
            "rollcall_refused",
            "Connections and requests that were refused, by reason.",
            ("listener", "reason"),
            self._refusals.counts.items(),
        )
        yield _counter(
            "rollcall_authentications",
            "SASL logins, by mechanism and result.",
            ("listener", "mechanism", "result"),
            self.authentications.items(),
        )
        for name, about, counts in (
            ("rollcall_connections_accepted", "Connections accepted.", self.accepted),
            ("rollcall_received_bytes", "Bytes received.", self.received_bytes),
            ("rollcall_sent_bytes", "Bytes sent.", self.sent_bytes),
        ):
            by_listener = (((listener,), count) for listener, count in counts.items())
            yield _counter(name, about, ("listener",), by_listener)
        if self._request_log is not None:
            yield CounterMetricFamily(
                "rollcall_request_log_dropped",
                "Lines of the request log that were dropped because too many waited.",
                value=self._request_log.dropped,
            )

    def _open_connections(self) -> GaugeMetricFamily:
        gauge = GaugeMetricFamily(
            self._gauge_name,
            "Open connections by the client's software (KIP-511).",
            labels=("clientSoftwareName", "clientSoftwareVersion", "listener", "networkProcessor"),
        )
        for label, count in self._connections.gauge.counts.items():
            gauge.add_metric((*label, self._processor), count)
        return gauge


def _counter(
    name: str,
    about: str,
    labels: tuple[str, ...],
    counts: Iterable[tuple[Sequence[object], int]],
) -> CounterMetricFamily:
    family = CounterMetricFamily(name, about, labels=labels)
    for values, count in counts:
        family.add_metric([str(value) for value in values], count)
    return family
