"""The folder of a cluster: one cluster at a time, its id, and a folder for each node."""

import base64
import fcntl
from pathlib import Path
from typing import IO
from uuid import uuid4

from rollcall.errors import RollcallError


class DataDirectory:
    """Locked from `take` to `release`; the system releases it too when the process ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: IO[bytes] | None = None

    def of_node(self, node_id: int) -> Path:
        return self.path / f"node-{node_id}"

    def take(self) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = (self.path / ".lock").open("wb")
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RollcallError(
                f"the data folder {self.path} is used by another cluster",
                hint="end that one first, or choose another folder with --data-dir",
            ) from None
        except OSError as error:
            raise RollcallError(
                f"the data folder {self.path} cannot be used: {error.strerror}",
                hint="choose a folder that can be written to with --data-dir",
            ) from None

    def cluster_id(self, wanted: str | None) -> str:
        """The one that is wanted, or the one from before, or a new one; kept for the next time."""
        kept = self.path / "cluster_id"
        found = kept.read_text(encoding="utf-8").strip() if kept.exists() else ""
        chosen = wanted or found or _new_cluster_id()
        kept.write_text(f"{chosen}\n", encoding="utf-8")
        return chosen

    def release(self) -> None:
        if self._lock is not None:
            self._lock.close()


def _new_cluster_id() -> str:
    """In Kafka's form: a uuid in base64."""
    return base64.urlsafe_b64encode(uuid4().bytes).decode("ascii").rstrip("=")
