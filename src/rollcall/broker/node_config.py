"""What one process of the cluster is told by the supervisor that starts it."""

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from rollcall.broker.config import ClusterConfig

REQUEST_LOG_NAME = "kafka-request.log"
_SIZE_BYTES = 4


@dataclass(frozen=True, kw_only=True)
class NodeConfig:
    """Its own part of the configuration, and what all nodes agree on."""

    node_id: int
    cluster: ClusterConfig
    cluster_id: str
    ports: Mapping[str, int]
    """Listener to port, `INTERNAL` among them."""
    http_port: int
    folder: Path
    controller_id: int
    controller_port: int
    starts: int
    """How often this node has been started: the epoch of the controller, if it is one."""
    secret: str = field(repr=False)
    """What the nodes know each other by."""

    def pack(self) -> bytes:
        """For the standard input of the process: it holds secrets, and no command line may."""
        data = pickle.dumps(self)
        return len(data).to_bytes(_SIZE_BYTES, "big") + data

    @staticmethod
    def unpack(stream: BinaryIO) -> "NodeConfig":
        size = int.from_bytes(stream.read(_SIZE_BYTES), "big")
        config: NodeConfig = pickle.loads(stream.read(size))  # noqa: S301 - our parent wrote it
        return config

    @property
    def is_controller(self) -> bool:
        return self.node_id == self.controller_id

    @property
    def request_log(self) -> Path:
        return self.folder / REQUEST_LOG_NAME
