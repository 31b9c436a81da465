"""Precision and recall of library identification for clients that report no name.

Measured on logs of real brokers with real clients, for the catalog as it is. No times.
"""

from collections.abc import Iterator

from bench.rows import Row
from tests.catalog.clients.real_clients import (
    RealClient,
    Score,
    clients_in_lines,
    clients_of_nine_releases,
    scores,
    total,
)

MIN_PRECISION = 1.0
"""A wrong library is worse than none."""
MIN_PRECISION_PINNED = 0.89
"""kafka-python 3 pinned to an old release sends the same versions as its Java client."""


def measure() -> Iterator[Row]:
    # the catalog does not have pykafka
    logged = [client for client in clients_in_lines() if client.library != "pykafka"]
    nameless = [client for client in logged if client.reported is None and not client.setting]
    custom_id = [client for client in nameless if not client.has_default_id]
    groups = {
        "default client id": [client for client in nameless if client.has_default_id],
        "versions only": custom_id,
        "versions only, no signature": [client for client in custom_id if not client.is_known],
    }
    for group, clients in groups.items():
        for library, score in scores(clients, RealClient.as_logged).items():
            yield _row(f"{library}, {group}", score)
    pinned = [client for client in logged if client.reported is None and client.setting]
    yield _row("all, pinned by a setting", total(pinned), MIN_PRECISION_PINNED)
    named = [client for client in logged if client.reported is not None and not client.setting]
    for library, score in scores(named, RealClient.by_versions).items():
        yield _row(f"{library}, name removed", score)
    older = [client for client in clients_of_nine_releases() if client.reported is None]
    for library, score in scores(older, RealClient.as_logged).items():
        yield _row(f"{library}, on 0.10 to 4.3", score)


def _row(what: str, score: Score, min_precision: float = MIN_PRECISION) -> Row:
    return Row(
        what=f"infer {what}: {score.named} of {score.clients} named",
        ours=score.precision * 100,
        peer="recall",
        theirs=score.recall * 100,
        unit="%",
        ratio=score.precision / min_precision,
        bar=f"{min_precision:.0%} right",
        met=score.precision >= min_precision,
        spread=0.0,
    )
