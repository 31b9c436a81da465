"""WHAT IS KNOWN about Kafka: releases, APIs, client libraries, features; and judgements from it.

Facts are tables in `data/`, each with its reading instructions on top; a new release, library
or feature is a row there. Judgements are pure functions from values to frozen values that
carry their candidates, their evidence and their source. Nothing here opens a socket, reads a
setting, looks at a clock or makes prose: who asks is elsewhere, and so is who renders.

In reading order:

    ranges        ranges of versions: overlap, intersection, differences
    source        how we know a thing
    loader        reading a table, and saying which row of it is wrong
    apis          the API keys
    releases      a release number, and what is known of a line
    lines         the lines, added up from what each of them changes
    platforms     builds of Apache Kafka under another number
    listings      what a release lists, accepts and marks deprecated
    fits          every list that a release may show, and what explains it
    others        brokers that are not Apache Kafka
    inference         the values of a judgement about a broker
    strange       a list that fits no release
    identify      which release is this broker
    identity      what a broker is, and where that came from
    features      what a client can use, and which broker stands in the way
    libraries     client libraries
    signatures    which of them could have sent these versions
    clients       which library is this client
    targets       what a target release means to a library
    applications  the application behind a client id
    log_forms     which release writes which form of the request log
"""

from rollcall.catalog.apis import Api, Mode, api_name, api_named, api_names, api_rows, known_apis
from rollcall.catalog.brokers.fingerprints import BrokerCondition
from rollcall.catalog.brokers.identify import identify_release, identify_without_api_versions
from rollcall.catalog.brokers.identity import BrokerIdentity, identify_broker
from rollcall.catalog.brokers.other_products import OtherProduct
from rollcall.catalog.brokers.result import (
    BrokerKind,
    ClosestRelease,
    Evidence,
    EvidenceKind,
    LineCandidate,
    ReleaseInference,
)
from rollcall.catalog.clients.applications import application_of, application_rules
from rollcall.catalog.clients.compatibility import (
    LibraryCompatibility,
    Risk,
    RiskReason,
    known_api_versions,
    library_compatibility,
)
from rollcall.catalog.clients.identify import (
    LibraryCandidate,
    LibraryEvidence,
    LibraryInference,
    identify_library,
)
from rollcall.catalog.clients.libraries import Library, engine_of, known_libraries, parse_version
from rollcall.catalog.features import (
    BrokerSupport,
    Feature,
    FeatureResult,
    MissingRequirement,
    Usable,
    known_features,
    usable_features,
)
from rollcall.catalog.loader import CatalogError, TableError
from rollcall.catalog.provenance import Provenance
from rollcall.catalog.ranges import Difference, Range, Ranges, as_ranges, differences, intersect
from rollcall.catalog.releases.api_ranges import (
    Acceptance,
    acceptance,
    accepted_ranges,
    accepts,
    first_line_listing,
    is_deprecated,
    is_known_release,
    listed,
    listed_ranges,
    newest,
    release_line,
)
from rollcall.catalog.releases.log_formats import (
    LogFormat,
    known_log_formats,
    log_format,
    log_format_of,
)
from rollcall.catalog.releases.release import Release, ReleaseLine, UnknownReleaseError
from rollcall.catalog.releases.release_lines import known_release_lines, metadata_versions
from rollcall.catalog.releases.vendor_builds import apache_line

__all__ = [
    "Acceptance",
    "Api",
    "BrokerCondition",
    "BrokerIdentity",
    "BrokerKind",
    "BrokerSupport",
    "CatalogError",
    "ClosestRelease",
    "Difference",
    "Evidence",
    "EvidenceKind",
    "Feature",
    "FeatureResult",
    "Library",
    "LibraryCandidate",
    "LibraryCompatibility",
    "LibraryEvidence",
    "LibraryInference",
    "LineCandidate",
    "LogFormat",
    "MissingRequirement",
    "Mode",
    "OtherProduct",
    "Provenance",
    "Range",
    "Ranges",
    "Release",
    "ReleaseInference",
    "ReleaseLine",
    "Risk",
    "RiskReason",
    "TableError",
    "UnknownReleaseError",
    "Usable",
    "acceptance",
    "accepted_ranges",
    "accepts",
    "apache_line",
    "api_name",
    "api_named",
    "api_names",
    "api_rows",
    "application_of",
    "application_rules",
    "as_ranges",
    "differences",
    "engine_of",
    "first_line_listing",
    "identify_broker",
    "identify_library",
    "identify_release",
    "identify_without_api_versions",
    "intersect",
    "is_deprecated",
    "is_known_release",
    "known_api_versions",
    "known_apis",
    "known_features",
    "known_libraries",
    "known_log_formats",
    "known_release_lines",
    "library_compatibility",
    "listed",
    "listed_ranges",
    "log_format",
    "log_format_of",
    "metadata_versions",
    "newest",
    "parse_version",
    "release_line",
    "usable_features",
]
