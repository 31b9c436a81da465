"""Display of a running cluster: a live table on a terminal, one line per event elsewhere."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Self, TextIO

from rich import box
from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from rollcall.text import safe_text

if TYPE_CHECKING:
    from rollcall.broker import ClusterSupervisor, NodeDescription

_COLOURS = {"up": "green", "starting": "yellow", "down": "red", "stopped": "dim"}


class PlainLines:
    """One line per state change of a node; with `only_failures`, crashes and restarts only."""

    def __init__(self, stream: TextIO, *, only_failures: bool = False) -> None:
        self._stream = stream
        self._only_failures = only_failures
        self._states: dict[int, str] = {}

    def changed(self, node: NodeDescription) -> None:
        if self._states.get(node.id) == node.state:
            return
        is_first = node.id not in self._states
        self._states[node.id] = node.state
        if node.state == "down":
            self._print(f"node {node.id}: down ({node.last_exit})")
        elif node.state == "up" and (node.starts > 1 or not self._only_failures):
            self._print(f"node {node.id}: up, pid {node.pid}, {_addresses(node)}, {node.http}")
        elif node.state == "stopped" and not self._only_failures:
            self._print(f"node {node.id}: stopped")
        elif is_first and not self._only_failures:
            self._print(f"node {node.id}: starting")

    def ready(self, cluster: ClusterSupervisor) -> None:
        if not self._only_failures:
            self._print(f"{_summary(cluster)}; press Ctrl-C to stop")

    def _print(self, text: str) -> None:
        print(safe_text(text), file=self._stream, flush=True)


class LiveTable:
    """A table of the nodes, redrawn at every state change."""

    def __init__(self) -> None:
        self._nodes: dict[int, NodeDescription] = {}
        self._summary = "cluster starting"
        self._live = Live(auto_refresh=False)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

    def changed(self, node: NodeDescription) -> None:
        self._nodes[node.id] = node
        if all(node.state == "stopped" for node in self._nodes.values()):
            self._summary = "cluster stopped"
        self._draw()

    def ready(self, cluster: ClusterSupervisor) -> None:
        self._summary = f"{_summary(cluster)}\nlogs: {cluster.directory}; press Ctrl-C to stop"
        self._draw()

    def _draw(self) -> None:
        lines = map(safe_text, self._summary.splitlines())
        self._live.update(Group(Text("\n".join(lines)), self._table()), refresh=True)

    def _table(self) -> Table:
        nodes = [node for _, node in sorted(self._nodes.items())]
        listeners = list(nodes[0].listeners) if nodes else []
        table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
        for column in ("node", "state", "pid", "sees"):
            table.add_column(column, no_wrap=column != "state", min_width=len(column))
        is_narrow = len(listeners) <= 2  # addresses on one line are easier to copy
        for column in (*listeners, "http"):
            table.add_column(Text(safe_text(column)), overflow="fold", no_wrap=is_narrow)
        for node in nodes:
            table.add_row(*map(_cell, self._row(node, len(nodes))))
        return table

    def _row(self, node: NodeDescription, total: int) -> list[object]:
        state = f"{node.state}, start {node.starts}" if node.starts > 1 else str(node.state)
        return [
            f"{node.id} ({node.rack})" if node.rack else node.id,
            Text(
                f"down: {node.last_exit}" if node.state == "down" else state, _COLOURS[node.state]
            ),
            node.pid or "",
            f"{len(node.view)} of {total}",
            *node.listeners.values(),
            node.http.removeprefix("http://"),
        ]


def _cell(value: object) -> Text:
    return value if isinstance(value, Text) else Text(safe_text(value))


def _addresses(node: NodeDescription) -> str:
    return safe_text(", ".join(f"{name} {address}" for name, address in node.listeners.items()))


def _summary(cluster: ClusterSupervisor) -> str:
    bootstrap = ",".join(next(iter(node.listeners.values())) for node in cluster.nodes)
    return f"cluster {cluster.cluster_id} is ready, bootstrap servers {bootstrap}"
