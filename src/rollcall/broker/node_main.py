"""Main module of a node process: `python -m rollcall.broker.node_main`, run by the supervisor.

Standard input carries the configuration with its secrets, which must not be on a command line. It
stays open afterwards: the node stops when it is closed, as the supervisor has ended then. Standard
output has a line of JSON for each change of state. Standard error is the log.
"""

import asyncio
import json
import logging
import os
import signal
import sys
from collections.abc import Mapping

import uvloop

from rollcall.broker.config import NodeConfig
from rollcall.broker.node import BrokerNode
from rollcall.client import raise_open_file_limit
from rollcall.errors import RollcallError

_LOG_FORMAT = "[%(asctime)s] %(levelname)s %(message)s (%(name)s)"
_log = logging.getLogger(__name__)


def main() -> None:
    config = NodeConfig.unpack(sys.stdin.buffer)
    logging.basicConfig(level=logging.INFO, format=_LOG_FORMAT)
    raise_open_file_limit()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_run(config))


async def _run(config: NodeConfig) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    # Nothing more is written to stdin: it becomes readable when the supervisor has ended.
    loop.add_reader(sys.stdin.fileno(), _stdin_closed, loop, stop)
    try:
        await BrokerNode(config, _report).run(stop)
    except RollcallError as error:
        _log.error("node %d: %s", config.node_id, error)
        _report({"failed": error.message, "hint": error.hint})


def _stdin_closed(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    loop.remove_reader(sys.stdin.fileno())
    _log.info("the supervisor has ended, stopping")
    stop.set()


def _report(state: Mapping[str, object]) -> None:
    try:
        os.write(sys.stdout.fileno(), json.dumps(state).encode() + b"\n")
    except BrokenPipeError:
        _log.info("the supervisor no longer reads the state of this node")


if __name__ == "__main__":
    main()
