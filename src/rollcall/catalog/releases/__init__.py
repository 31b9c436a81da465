"""Releases of Apache Kafka: the API versions each lists, accepts, refuses and marks deprecated.

A server that imitates a release uses `listed_ranges(release)` for its ApiVersions response,
and `accepts(release, api, version)` or `acceptance(...)` for every request.

    release        release numbers, and the facts about one release line
    release_lines  all lines, built from the changes in data/releases.json
    vendor_builds  vendor builds with their own version numbers
    api_ranges     listed, accepted and deprecated API versions of a release
    log_formats    formats of the request log

Which release an unknown broker has is judged in `catalog.brokers`.
"""
