"""Entry point of the command `rollcall` and of `python -m rollcall`.

Ctrl-C inside an import prints a traceback: Python reports an interrupt in a weak reference callback
as "Exception ignored", and some libraries turn it into another error. So this module imports
almost nothing, and installs a SIGINT handler that exits at once. `rollcall.cli.app.main` replaces
it while a command runs, so that the command can clean up.
"""

import os

try:
    import signal

    from rollcall.cli.exit_codes import INTERRUPTED
except KeyboardInterrupt:
    os._exit(130)


def exit_quietly(*_: object) -> None:
    os._exit(INTERRUPTED)


if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # not if ignored, as with nohup
    signal.signal(signal.SIGINT, exit_quietly)


def main() -> None:
    from rollcall.cli.app import main as run_command

    run_command()


if __name__ == "__main__":
    main()
