"""The door to the command line: the command `rollcall`, and `python -m rollcall`."""

import sys
from importlib import import_module

INTERRUPTED = 130


def main() -> None:
    call("rollcall.cli", "main")


def call(module: str, function: str) -> None:
    """Ctrl-C that comes while modules are still being loaded ends it without a trace, too."""
    try:
        begin = getattr(import_module(module), function)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    begin()


if __name__ == "__main__":
    main()
