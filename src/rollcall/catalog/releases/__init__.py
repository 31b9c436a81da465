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

from rollcall.catalog.releases.api_ranges import (
    Acceptance,
    acceptance,
    accepted_ranges,
    accepts,
    first_line_listing,
    is_deprecated,
    is_known_release,
    listed_ranges,
    lists,
    newest_release_line,
    release_line,
)
from rollcall.catalog.releases.log_formats import (
    LogFormat,
    known_log_formats,
    log_format,
    log_format_of,
)
from rollcall.catalog.releases.release import Release, ReleaseLine, UnknownReleaseError
from rollcall.catalog.releases.release_lines import known_release_lines
from rollcall.catalog.releases.vendor_builds import apache_line

__all__ = [
    "Acceptance",
    "LogFormat",
    "Release",
    "ReleaseLine",
    "UnknownReleaseError",
    "acceptance",
    "accepted_ranges",
    "accepts",
    "apache_line",
    "first_line_listing",
    "is_deprecated",
    "is_known_release",
    "known_log_formats",
    "known_release_lines",
    "listed_ranges",
    "lists",
    "log_format",
    "log_format_of",
    "newest_release_line",
    "release_line",
]
