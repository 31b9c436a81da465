"""rollcall: who is on a Kafka cluster, and what breaks when it is upgraded.

The package is divided into rooms, one per trade, whose imports point one way:

    errors      what happened, and a hint what to do about it
    protocol    bytes <-> messages
    catalog     what is known of releases, APIs, client libraries and features
    client      we ask: one connection, negotiation, the roll call of all brokers
    server      we are asked: listeners, the registry of connections, metrics
    broker      the embedded cluster
    tables      the tables at rest
    pipeline    request logs -> tables; the only room that imports pyspark
    reports     tables -> answers
    cli         the command line; the only room that reads settings, prints or exits

Rooms are added in this order; `tests/test_rooms.py` holds who may import whom.
"""


def __getattr__(name: str) -> str:
    """`__version__` is looked up when it is asked for: that takes longer than most imports."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version

    return version("rollcall")
