"""What can go wrong between a log and a table."""

from rollcall.errors import RollcallError


class PipelineError(RollcallError):
    """The pipeline cannot do what was asked."""


class SourceError(PipelineError):
    """A log cannot be read."""


class ChangedError(SourceError):
    """A log changed or went away while it was read: look again, and read what is there now."""


class NotALogError(SourceError):
    """Most lines could not be read: this is something else than a request log."""


class SparkError(PipelineError):
    """Spark could not be started, or failed."""
