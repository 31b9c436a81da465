"""Where log lines come from: files on any file system, and Kafka topics.

This package decides which bytes of which files are new and hands them to Spark as lines. It does
not parse lines (`parsing`) and does not write tables (`jobs`).

    paths          local paths and URIs, and the form in which Spark takes them
    files          log files on the local file system
    hadoop         log files and tables on any file system that Hadoop supports
    gzip_stream    gzip content as a stream of bytes, up to the first damaged byte
    identity       what a file contains, and a fingerprint that survives renaming and compression
    planning       which files to read, and from which byte
    inputs         what Spark reads for a batch, and the check that it read exactly that
    lines          files to a DataFrame of lines, with line numbers
    topic          a Kafka topic as a source, and the check of its offsets

Import from the modules: `paths` and `files` work without pyspark, which takes 0.1 s to import.
"""
