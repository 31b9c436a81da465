"""The process of a node: `python -m rollcall.broker.node_main`, started by the supervisor alone.

Its standard input brings its configuration, secret and all, as nothing of that may stand on a
command line; after that it stays open, and when it ends the supervisor is gone and so is the node.
Its standard output is a line of JSON for each change, its standard error the log.
"""

import asyncio
import json
import logging
import os
import signal
import sys
from collections.abc import Mapping

import uvloop

from rollcall.broker.node import BrokerNode
from rollcall.broker.node_config import NodeConfig
from rollcall.client import raise_open_file_limit
from rollcall.errors import RollcallError

_LOG_FORM = "[%(asctime)s] %(levelname)s %(message)s (%(name)s)"


def main() -> None:
    config = NodeConfig.unpack(sys.stdin.buffer)
    logging.basicConfig(level=logging.INFO, format=_LOG_FORM)
    raise_open_file_limit()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(_run(config))


async def _run(config: NodeConfig) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    # A pipe that is readable without having been written to is at its end.
    loop.add_reader(sys.stdin.fileno(), _end_of_input, loop, stop)
    try:
        await BrokerNode(config, _tell).run(stop)
    except RollcallError as error:
        logging.getLogger(__name__).error("%s", error)
        _tell({"failed": error.message, "hint": error.hint})


def _end_of_input(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    loop.remove_reader(sys.stdin.fileno())
    logging.getLogger(__name__).info("the supervisor is gone")
    stop.set()


def _tell(news: Mapping[str, object]) -> None:
    try:
        os.write(sys.stdout.fileno(), json.dumps(news).encode() + b"\n")
    except BrokenPipeError:
        logging.getLogger(__name__).info("nobody listens any more")


if __name__ == "__main__":
    main()
