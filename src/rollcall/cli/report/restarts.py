"""`rollcall report restarts`: when brokers started."""

from __future__ import annotations

from rollcall import reports
from rollcall.cli.report import details as say
from rollcall.cli.report import summary as words
from rollcall.cli.report.options import Asked, with_options
from rollcall.cli.report.view import Answer, show
from rollcall.reports import shapes
from rollcall.reports.export import flat_broker
from rollcall.reports.query.database import open_tables
from rollcall.reports.starts import BrokerStarts


@with_options
def report_restarts(asked: Asked) -> None:
    """Tell when each broker started, which were up together, and which are flapping.

    Example: rollcall report restarts --tables tables --since 7d
    """
    reader = open_tables(asked.folder, asked.question)
    report = reports.restarts(reader)
    answer = Answer(
        name="restarts",
        title="When brokers started",
        headline=words.of_restarts(report),
        rests_on=words.on_restarts(report),
        beside={},
        listed="brokers",
        things=report.brokers,
        flat=flat_broker,
        fields=shapes.BROKER,
        columns=("broker", "address", "software", "started", "restarts", "what else"),
        cells=_cells,
        cluster_of=lambda it: it.cluster,
        about_clients=False,
    )
    show(answer, asked, reader)


def _cells(it: BrokerStarts) -> tuple[object, ...]:
    return (
        None if it.node_id is None else str(it.node_id),
        it.address,
        " ".join(filter(None, (it.software_name, it.software_version)))
        + (f" ({it.software_source})" if it.software_version else ""),
        words.minute(it.start.told if it.start else None),
        it.restarts,
        "; ".join(say.on_broker(it)),
    )
