"""The commands put together, and the one place where an error becomes a message and an exit code."""

import typer

app = typer.Typer(name="rollcall", no_args_is_help=True)


@app.callback()
def rollcall() -> None:
    """Who is on a Kafka cluster, and what breaks when it is upgraded."""


def main() -> None:
    app()
