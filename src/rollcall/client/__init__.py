"""asyncio admin client for Kafka: one broker, a cluster, or a roll call of all brokers.

It supports Kafka from 0.8 on and the embedded cluster in both dialects, and returns the same values
for all of them, each with its provenance.

It does not produce or consume records, print, or look for settings: the caller passes a
`ClientConfig` and displays the results.

Modules in reading order:

    errors            why a broker could not be queried
    addresses         host:port and bootstrap lists
    config            timeouts, TLS and SASL settings
    versions          API versions of a broker, choice of a version
    transport         asyncio protocol: requests and responses of one connection
    connect           opening TCP and TLS connections
    negotiation       ApiVersions
    authentication    SASL
    connection        all of these together, and brokers without ApiVersions
    cluster_requests  DescribeCluster and Metadata
    cluster           their responses as one description
    response_cache    decoded responses
    admin             AdminClient: one connection per broker
    roll_call         all brokers in parallel
    restarts          waiting for restarts

Example:

    async with AdminClient("broker1:9092") as client:
        cluster = await client.describe_cluster()
        print(cluster.cluster_id, cluster.via)
        calls = await roll_call(client)
        for row in calls.rows:
            print(row.node.id, row.identity, row.start_time_ms, row.reason)
"""

from rollcall.client.addresses import Address, parse_bootstrap
from rollcall.client.admin import AdminClient
from rollcall.client.cluster import ClusterDescription, Node
from rollcall.client.cluster_requests import ClusterResponses, Via
from rollcall.client.config import ClientConfig, SaslConfig, TlsConfig
from rollcall.client.connect import raise_open_file_limit
from rollcall.client.connection import BrokerConnection, open_connection
from rollcall.client.errors import (
    AuthenticationError,
    BrokerError,
    ClientError,
    ConnectionLostError,
    ConnectionRefusedByBrokerError,
    FailureKind,
    InvalidResponseError,
    RequestTimeoutError,
    UnreachableError,
    UnsupportedError,
)
from rollcall.client.restarts import (
    NoStartTimeError,
    RestartEvent,
    RestartProgress,
    watch_restarts,
)
from rollcall.client.roll_call import BrokerRow, RollCall, infer_release, roll_call
from rollcall.client.versions import ApiVersionsOutcome, BrokerVersions, choose_version

__all__ = [
    "Address",
    "AdminClient",
    "ApiVersionsOutcome",
    "AuthenticationError",
    "BrokerConnection",
    "BrokerError",
    "BrokerRow",
    "BrokerVersions",
    "ClientConfig",
    "ClientError",
    "ClusterDescription",
    "ClusterResponses",
    "ConnectionLostError",
    "ConnectionRefusedByBrokerError",
    "FailureKind",
    "InvalidResponseError",
    "NoStartTimeError",
    "Node",
    "RequestTimeoutError",
    "RestartEvent",
    "RestartProgress",
    "RollCall",
    "SaslConfig",
    "TlsConfig",
    "UnreachableError",
    "UnsupportedError",
    "Via",
    "choose_version",
    "infer_release",
    "open_connection",
    "parse_bootstrap",
    "raise_open_file_limit",
    "roll_call",
    "watch_restarts",
]
