"""Nameless clients: how often the library that is named is the right one, and how often one is.

No times: precision, and recall beside it, on logs of real brokers with real clients, as the
catalog judges them today.
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

PRECISION = 1.0
"""A wrong answer is worse than none."""
HELD_DOWN = 0.89
"""kafka-python 3 held down to an old release sends what the Java client of that release does."""


def measure() -> Iterator[Row]:
    lines = [it for it in clients_in_lines() if it.library != "pykafka"]  # no library of ours
    nameless = [it for it in lines if it.told is None and not it.setting]
    own_id = [it for it in nameless if not it.has_default_id]
    groups = {
        "default client id": [it for it in nameless if it.has_default_id],
        "versions only": own_id,
        "versions only, no row": [it for it in own_id if not it.is_known],
    }
    for group, clients in groups.items():
        for library, score in scores(clients, RealClient.as_logged).items():
            yield _row(f"{library}, {group}", score)
    held_down = [it for it in lines if it.told is None and it.setting]
    yield _row("all, held down by a setting", total(held_down), HELD_DOWN)
    stripped = [it for it in lines if it.told is not None and not it.setting]
    for library, score in scores(stripped, RealClient.by_versions).items():
        yield _row(f"{library}, name taken away", score)
    old = [it for it in clients_of_nine_releases() if it.told is None]
    for library, score in scores(old, RealClient.as_logged).items():
        yield _row(f"{library}, on 0.10 to 4.3", score)


def _row(what: str, score: Score, at_least: float = PRECISION) -> Row:
    return Row(
        what=f"infer {what}: {score.named} of {score.clients} named",
        ours=score.precision * 100,
        peer="recall",
        theirs=score.recall * 100,
        unit="%",
        ratio=score.precision / at_least,
        bar=f"{at_least:.0%} right",
        met=score.precision >= at_least,
        spread=0.0,
    )
