"""REQUEST LOGS -> TABLES, on Spark. The only room that imports pyspark.

Lines become requests by column expressions, requests become partial sums, sums become parts of
the tables, and a manifest commits them. It is not where tables are read for answers (`reports`),
nor where they are defined (`tables`). Batch and stream differ at their two ends only.

In reading order, first what happens to a line:

    settings       what the operator says of a source
    schema         the columns between the steps
    layout         the log4j pattern of a line
    parse          a line to a request, a skip or a reject (parse_frame, parse_cut, parse_marks,
                   parse_json, parse_text and parse_read are its parts)
    methods        where one Java method ends, as it must not grow too large
    sums           requests to partial sums, in one pass
    roll_calls     lines of a roll call to rows of brokers
    record_types        the steps above, as a batch takes them

then where lines come from:

    paths          local paths, and those of other file systems
    places         where logs lie, as the driver sees them
    contents       what a file is known by
    planning       which files to read, and from where on
    staging        copies of what Spark cannot be let loose on
    inputs         what Spark is given, and the check that it read just that
    lines          files to lines; positions to line numbers

and how it runs:

    errors         what can go wrong
    session_config what a session is started with; archives: how it starts in half the time
    java           Java as a process; gateway: fewer questions to it
    session        the Spark session, and all that ends with it
    failures       what Spark throws, in words
    hadoop         tables and logs on any file system
    known          what was read before
    shuffling      in how many parts a batch is sorted out
    writing        sums to Parquet files
    batch          one batch: all or nothing
    progress       how far it is
    run            the logs that are there now
    folder_stream  a folder, again and again
    topic          a topic's address, and its records as lines
    offsets        how many records a batch of a topic holds
    topic_stream   a topic, each line once
    compact        many parts to few; totals: what it adds up for the reports
    folding        what becomes of old rows

    generate       request logs of a made-up fleet, of any size
"""
