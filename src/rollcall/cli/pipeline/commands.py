"""Arguments, options and help of `rollcall pipeline` and `rollcall generate-logs`."""

from typing import Annotated

import typer

from rollcall.cli.options.common import JsonOption
from rollcall.cli.options.spark import DEFAULT_MASTER, ConfOption, MasterOption, require_spark
from rollcall.cli.pipeline.options import (
    BrokerOption,
    ClusterOption,
    InterBrokerOption,
    LayoutOption,
    LogsArgument,
    RejectsOption,
    TablesOption,
    TimeZoneOption,
    parse_count,
    parse_hour,
    record_type_of,
)

app = typer.Typer(no_args_is_help=True, help="Read request logs into tables (on Spark).")


@app.command()
def run(
    logs: LogsArgument,
    tables: TablesOption,
    cluster: ClusterOption = None,
    broker: BrokerOption = None,
    time_zone: TimeZoneOption = "UTC",
    layout: LayoutOption = None,
    inter_broker: InterBrokerOption = None,
    allow_rejects: RejectsOption = False,
    master: MasterOption = DEFAULT_MASTER,
    conf: ConfOption = None,
    as_json: JsonOption = False,
) -> None:
    """Read all present logs once. Lines that an earlier run has read are not counted again.

    Example: rollcall pipeline run /var/log/kafka --tables tables --cluster prod
    """
    require_spark()
    from rollcall.cli.pipeline.run import read_request_logs

    read_request_logs(
        logs,
        tables,
        record_type_of(time_zone, layout, inter_broker),
        {"cluster": cluster, "broker": broker, "allow_rejects": allow_rejects},
        master=master,
        conf=conf or (),
        as_json=as_json,
    )


@app.command()
def stream(
    source: Annotated[
        str,
        typer.Argument(
            metavar="DIR|kafka://HOST:PORT/TOPIC",
            help="Directory of rolled logs, or topic with log lines.",
        ),
    ],
    tables: TablesOption,
    trigger: Annotated[
        str,
        typer.Option(
            metavar="INTERVAL|once",
            show_default=False,
            help="Interval between two batches, or once to read what is there (default 10s).",
        ),
    ] = "10s",
    line_field: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD",
            help="Field of a JSON record that holds the log line, for example message "
            "(default: the whole record).",
        ),
    ] = None,
    broker_field: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD",
            help="Field of a JSON record that names the broker, for example host.name.",
        ),
    ] = None,
    cluster: ClusterOption = None,
    broker: BrokerOption = None,
    time_zone: TimeZoneOption = "UTC",
    layout: LayoutOption = None,
    inter_broker: InterBrokerOption = None,
    packages: Annotated[
        str | None,
        typer.Option(
            metavar="COORDINATES",
            help="Maven coordinates of Spark's Kafka connector (default: the one of this Spark).",
        ),
    ] = None,
    master: MasterOption = DEFAULT_MASTER,
    conf: ConfOption = None,
) -> None:
    """Read new lines of a directory or a topic continuously, until Ctrl-C.

    Pass settings of the Kafka consumer with the prefix kafka., for example
    --conf kafka.security.protocol=SASL_SSL.

    Example: rollcall pipeline stream kafka://broker1:9092/logs --tables tables --line-field message
    """
    require_spark()
    from rollcall.cli.pipeline.stream import stream_logs

    stream_logs(
        source,
        tables,
        record_type_of(time_zone, layout, inter_broker),
        {"cluster": cluster, "broker": broker},
        trigger=trigger,
        fields={"line_field": line_field, "broker_field": broker_field},
        packages=packages,
        master=master,
        conf=conf or (),
    )


@app.command()
def brokers(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE...", help="Files that `rollcall brokers --output` wrote."),
    ],
    tables: TablesOption,
    cluster: ClusterOption = None,
    master: MasterOption = DEFAULT_MASTER,
    conf: ConfOption = None,
    as_json: JsonOption = False,
) -> None:
    """Read roll calls that `rollcall brokers --output FILE` appended.

    Example: rollcall pipeline brokers rolls.jsonl --tables tables --cluster prod
    """
    require_spark()
    from rollcall.cli.pipeline.run import read_roll_calls

    read_roll_calls(files, tables, cluster, master=master, conf=conf or (), as_json=as_json)


@app.command()
def compact(
    tables: TablesOption,
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="AGE",
            help="Delete rows last seen longer ago, for example 90d (default: keep all).",
        ),
    ] = None,
    master: MasterOption = DEFAULT_MASTER,
    conf: ConfOption = None,
    as_json: JsonOption = False,
) -> None:
    """Merge small files, roll up old rows and apply the retention. Readers can go on.

    Rows of an hour become rows of a day after 7 days. Connections that ended more than 48 hours
    ago become counts per hour. The list of files that were read is always kept.

    Example: rollcall pipeline compact --tables tables --keep 90d
    """
    require_spark()
    from rollcall.cli.pipeline.run import compact_tables

    compact_tables(tables, keep, master=master, conf=conf or (), as_json=as_json)


def generate_logs(
    output: Annotated[
        str, typer.Option(metavar="DIR", help="New directory, on any file system of Hadoop.")
    ],
    lines: Annotated[
        str, typer.Option(metavar="N", help="Number of lines, for example 5000, 250k, 1M or 2G.")
    ],
    seed: Annotated[
        int,
        typer.Option(
            metavar="N",
            show_default=False,
            help="Seed; the same seed generates the same logs (default 7).",
        ),
    ] = 7,
    log_format: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="A..J|mixed",
            show_default=False,
            help="Format of the request log (default mixed).",
        ),
    ] = "mixed",
    brokers: Annotated[
        int, typer.Option(metavar="N", show_default=False, help="Number of brokers (default 12).")
    ] = 12,
    hours: Annotated[
        int | None,
        typer.Option(metavar="N", help="Number of hours (default: as many as the lines fill)."),
    ] = None,
    start: Annotated[
        str,
        typer.Option(
            metavar="HOUR", show_default=False, help="First hour in UTC (default 2026-11-01T10)."
        ),
    ] = "2026-11-01T10",
    gzip: Annotated[bool, typer.Option("--gzip", help="Compress every file with gzip.")] = False,
    master: MasterOption = DEFAULT_MASTER,
    conf: ConfOption = None,
    as_json: JsonOption = False,
) -> None:
    """Generate request logs of a synthetic fleet, with its expected results as JSON.

    The fleet has old and new client libraries, pinned versions, many owners and five clients that
    misbehave. Use it to try the pipeline with a gigabyte or a terabyte before your own logs.

    Example: rollcall generate-logs --output logs --lines 1M --format J
    """
    require_spark()
    from rollcall.cli.pipeline.generate_logs import write_logs
    from rollcall.loggen import GenerateSettings

    settings = GenerateSettings(
        lines=parse_count(lines),
        seed=seed,
        form=log_format,
        brokers=brokers,
        start=parse_hour(start),
        hours=hours,
    )
    write_logs(settings, output, gzip=gzip, master=master, conf=conf or (), as_json=as_json)
