"""rollcall: which clients and brokers are on a Kafka cluster, and what breaks in an upgrade.

Packages, in the order of their imports (`tests/test_architecture.py` checks it):

- `errors`, `text`: base classes of errors with a hint, escaping of text for display
- `protocol`: the Kafka protocol, bytes to messages and back
- `catalog`: facts about releases, APIs, client libraries and features
- `client`: asyncio admin client, version negotiation, roll call of all brokers
- `server`: socket server with listeners, TLS, SASL, connection registry and metrics
- `broker`: the embedded cluster
- `tables`: the stored tables
- `pipeline`: request logs to tables on Spark; with `loggen` the only package that imports pyspark
- `loggen`: request logs of a synthetic fleet
- `reports`: tables to reports
- `pages`: HTML templates, styles and charts
- `cli`: the command line; reads settings, prints and exits
"""


def __getattr__(name: str) -> str:
    """Look up `__version__` on first use: reading package metadata is slower than most imports."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import version

    return version("rollcall")
