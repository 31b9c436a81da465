"""Pipeline: request logs, usage logs and roll calls to tables, on Spark.

Lines become requests by column expressions, requests become partial sums, sums become Parquet
files, and a commit adds them to the tables. Batch and stream run the same code on their lines. The
tables are defined in `rollcall.tables` and read by `rollcall.reports`. With `rollcall.loggen` this
is the only package that imports pyspark.

    errors        errors of the pipeline
    parsing/      lines to requests, skipped lines and rejects
    aggregates/   requests to partial sums, the rows of the tables
    sources/      which files and records are new, and their lines
    jobs/         run, streams, compaction
    spark/        the Spark session and the JVM

Import from the subpackages and their modules: this package exports the errors only, because
commands that read tables must start without pyspark (0.1 s).
"""

from rollcall.pipeline.errors import (
    ChangedError,
    NotALogError,
    PipelineError,
    SourceError,
    SparkError,
)

__all__ = ["ChangedError", "NotALogError", "PipelineError", "SourceError", "SparkError"]
