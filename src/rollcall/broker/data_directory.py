"""Data directory of a cluster: lock, cluster id, and a directory for each node."""

import base64
import fcntl
from pathlib import Path
from typing import IO
from uuid import uuid4

from rollcall.errors import RollcallError


class DataDirectory:
    """Locked from `lock` to `release`; the system also releases it when the process ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: IO[bytes] | None = None

    def of_node(self, node_id: int) -> Path:
        return self.path / f"node-{node_id}"

    def lock(self) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = (self.path / ".lock").open("wb")
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RollcallError(
                f"the data directory {self.path} is used by another cluster",
                hint="stop that cluster, or choose another directory with --data-dir",
            ) from None
        except OSError as error:
            raise RollcallError(
                f"the data directory {self.path} cannot be used: {error.strerror}",
                hint="choose a writable directory with --data-dir",
            ) from None

    def cluster_id(self, configured: str | None) -> str:
        """The configured cluster id, the stored one, or a new one; it is stored."""
        path = self.path / "cluster_id"
        stored = path.read_text(encoding="utf-8").strip() if path.exists() else ""
        cluster_id = configured or stored or _new_cluster_id()
        path.write_text(f"{cluster_id}\n", encoding="utf-8")
        return cluster_id

    def release(self) -> None:
        if self._lock is not None:
            self._lock.close()


def _new_cluster_id() -> str:
    """A UUID in base64, as Kafka generates it."""
    return base64.urlsafe_b64encode(uuid4().bytes).decode("ascii").rstrip("=")
