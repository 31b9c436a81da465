"""Pipeline jobs: read logs in batches and commit them to the tables, compact the tables.

A batch is committed completely or not at all. This package does not find files (`sources`), does
not parse lines (`parsing`) and does not define the tables (`rollcall.tables`).

    job             the Spark session, the tables and the file systems of a run or a stream
    write           rows to Parquet files, in a directory of their own until a manifest names them
    batch           one batch of files: parse, sum, check, write, commit
    progress        files, lines and bytes read so far
    run             read the logs that exist now
    folder_stream   read a directory repeatedly
    topic_stream    read a Kafka topic with Structured Streaming
    retention       hours to days, old connections to counts, a limit of client ids
    compaction      merge many Parquet files to few, apply retention, write rollups

Import from the modules: all but `job` import pyspark.
"""
