"""Facts about Kafka, and judgements based on them.

Facts are tables in data/, each with an `about` text that explains its fields: a new release, API,
library or feature is a new row. Judgements are pure functions that return frozen values with their
candidates, evidence and provenance. There are no sockets, settings, clocks or texts for users here:
brokers are queried in `client`, and `cli` and `web` render the values.

In reading order:

    ranges      ranges of API versions
    provenance  how a value is known
    loader      reads a table and reports its invalid row
    apis        API keys and names
    releases/   releases: the API versions each lists, accepts, refuses and marks deprecated
    brokers/    the release of a broker, inferred from its ApiVersions response
    features    features that a client can use on a cluster
    clients/    the library of a client, its application, and its compatibility with a release
"""

from rollcall.catalog.apis import Api, Mode, api_name, api_named, api_names, known_apis
from rollcall.catalog.brokers import (
    BrokerCondition,
    BrokerIdentity,
    BrokerKind,
    ClosestRelease,
    Evidence,
    EvidenceKind,
    LineCandidate,
    OtherProduct,
    ReleaseInference,
    identify_broker,
    identify_release,
    identify_without_api_versions,
)
from rollcall.catalog.clients import (
    ApplicationRule,
    Library,
    LibraryCandidate,
    LibraryCompatibility,
    LibraryEvidence,
    LibraryInference,
    Risk,
    RiskReason,
    application_of,
    application_rules,
    engine_of,
    identify_library,
    known_api_versions,
    known_libraries,
    library_compatibility,
    parse_version,
)
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
from rollcall.catalog.releases import (
    Acceptance,
    LogFormat,
    Release,
    ReleaseLine,
    UnknownReleaseError,
    acceptance,
    accepted_ranges,
    accepts,
    apache_line,
    first_line_listing,
    is_deprecated,
    is_known_release,
    known_log_formats,
    known_release_lines,
    listed_ranges,
    lists,
    log_format,
    log_format_of,
    newest_release_line,
    release_line,
)

__all__ = [
    "Acceptance",
    "Api",
    "ApplicationRule",
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
    "listed_ranges",
    "lists",
    "log_format",
    "log_format_of",
    "newest_release_line",
    "parse_version",
    "release_line",
    "usable_features",
]
