"""The Spark session: settings, the JVM process, start-up, and errors in plain words.

This package does not know what a job computes. In reading order:

    config          settings of a session, for jobs of any size and for small local ones
    class_archive   class-data sharing (CDS) archives of the JVM, to start faster
    jvm             find, start and stop the JVM process
    session         open a session and close everything it started
    errors          exceptions of Spark and the JVM as errors of the pipeline

Import from the modules: `jvm`, `session` and `errors` import pyspark.
"""
