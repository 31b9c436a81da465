"""Configuration of the embedded cluster: frozen, validated when constructed.

Modules in reading order:

    cluster    ClusterConfig and the settings of listeners, nodes and metrics
    node       NodeConfig: what one node process is started with
    section    typed access to a TOML table, errors with the path of the key
    listeners  the [listeners] table
    file       the whole file, and the file of users
"""

from rollcall.broker.config.cluster import (
    DEFAULT_LISTENERS,
    INTERNAL,
    LOOPBACK,
    MAX_BROKERS,
    ClusterConfig,
    ListenerSettings,
    MetricsSettings,
    NodeSettings,
    Software,
)
from rollcall.broker.config.file import parse_config, read_config, read_users
from rollcall.broker.config.node import REQUEST_LOG_NAME, NodeConfig
from rollcall.broker.config.section import ConfigSection

__all__ = [
    "DEFAULT_LISTENERS",
    "INTERNAL",
    "LOOPBACK",
    "MAX_BROKERS",
    "REQUEST_LOG_NAME",
    "ClusterConfig",
    "ConfigSection",
    "ListenerSettings",
    "MetricsSettings",
    "NodeConfig",
    "NodeSettings",
    "Software",
    "parse_config",
    "read_config",
    "read_users",
]
