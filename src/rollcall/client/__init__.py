"""WE ASK. One connection, negotiation, AdminClient, the roll call of all brokers.

What it is: the client's side of the proposals, on the caller's asyncio loop. It speaks to any Kafka
from 0.8 on and to our own brokers in both dialects, and gives the same values for all of them,
each with how it is known.
What it is not: there are no producers and no consumers here. Nothing is printed and no settings are
looked for: a `ClientConfig` is handed in, the values that come out are shown elsewhere.

In reading order:

    errors          why there is no answer
    addresses       where brokers listen
    config          what a client is told
    versions        which version to ask in
    wire            the edge that awaits: bytes of one connection
    dialing         getting through to an address
    negotiation     the first words: versions, dialect, our name
    authentication  SASL
    connection      all of that together, and brokers too old for it
    questions       asking about a cluster, through either API
    cluster         what came back, as values
    memory          answers that were read before
    open_files      room for many connections
    admin           AdminClient: one connection per broker
    roll_call       every broker asked at once
    restarts        waiting until brokers have restarted

A cluster and its brokers, in six lines:

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
from rollcall.client.connection import Connection, open_connection
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
from rollcall.client.roll_call import BrokerRow, RollCall, infer_release, roll_call
from rollcall.client.versions import ApiVersionsReply, BrokerVersions, choose_version

__all__ = [
    "Address",
    "AdminClient",
    "ApiVersionsReply",
    "AuthenticationError",
    "BrokerError",
    "BrokerRow",
    "BrokerVersions",
    "ClientConfig",
    "ClientError",
    "ClusterDescription",
    "ClusterResponses",
    "Connection",
    "ConnectionLostError",
    "ConnectionRefusedByBrokerError",
    "FailureKind",
    "InvalidResponseError",
    "Node",
    "RequestTimeoutError",
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
    "roll_call",
]
