"""NodeConfig: configuration of one node process, passed by the supervisor through stdin."""

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from rollcall.broker.config.cluster import ClusterConfig

REQUEST_LOG_NAME = "kafka-request.log"
_LENGTH_BYTES = 4


@dataclass(frozen=True, kw_only=True)
class NodeConfig:
    node_id: int
    cluster: ClusterConfig
    cluster_id: str
    ports: Mapping[str, int]
    """Listener name to port, including `INTERNAL`."""
    http_port: int
    directory: Path
    controller_id: int
    controller_port: int
    starts: int
    """How often this node has been started; on the controller also the controller epoch."""
    secret: str = field(repr=False)
    """Password of the internal listeners."""

    def pack(self) -> bytes:
        data = pickle.dumps(self)
        return len(data).to_bytes(_LENGTH_BYTES, "big") + data

    @staticmethod
    def unpack(stream: BinaryIO) -> "NodeConfig":
        size = int.from_bytes(stream.read(_LENGTH_BYTES), "big")
        config: NodeConfig = pickle.loads(stream.read(size))  # noqa: S301 - written by the parent
        return config

    @property
    def is_controller(self) -> bool:
        return self.node_id == self.controller_id

    @property
    def request_log(self) -> Path:
        return self.directory / REQUEST_LOG_NAME
