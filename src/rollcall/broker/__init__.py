"""Embedded cluster: brokers on this machine that implement all five proposals.

It has node processes that respond from a metadata cache, a controller that fills the caches, and a
supervisor that restarts the processes. Clients can connect, authenticate, query the cluster and are
counted.

It has no topics, groups or records. Sockets, TLS, SASL, the connection registry, metrics and the
request log are in `server`.

Modules in reading order:

    config/             configuration of cluster, listeners and nodes; the TOML file
    metadata_cache      what a node knows of the cluster
    authorizer          operations of a principal
    handlers/           request handlers, one module per API
    registrations       live brokers at the controller
    controller_channel  connections between nodes and controller
    broker_lifecycle    registration and heartbeats of a node
    controller          UpdateMetadata to all nodes
    node                listeners, handlers, lifecycle and controller together
    node_main           main module of a node process
    node_process        starts and restarts a node process
    ports               port allocation
    data_directory      lock, cluster id and directories
    supervisor          the cluster as a whole
"""

from rollcall.broker.config import (
    ClusterConfig,
    ListenerSettings,
    NodeSettings,
    Software,
    parse_config,
    read_config,
)
from rollcall.broker.node_process import NodeState
from rollcall.broker.supervisor import ClusterSupervisor, NodeDescription

__all__ = [
    "ClusterConfig",
    "ClusterSupervisor",
    "ListenerSettings",
    "NodeDescription",
    "NodeSettings",
    "NodeState",
    "Software",
    "parse_config",
    "read_config",
]
