"""Errors of the pipeline."""

from rollcall.errors import RollcallError


class PipelineError(RollcallError):
    """The pipeline cannot do what was requested."""


class SourceError(PipelineError):
    """A log cannot be read."""


class ChangedError(SourceError):
    """A log changed or disappeared while it was read; planning again may succeed."""


class NotALogError(SourceError):
    """Most lines were rejected, so the input is not a request log."""


class SparkError(PipelineError):
    """Spark could not be started, or failed."""
