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

from rollcall.catalog.apis import Mode, api_name, api_names, known_apis
from rollcall.catalog.brokers.identify import (
    identify_broker,
    identify_release,
    identify_without_api_versions,
)
from rollcall.catalog.brokers.other_products import OtherProduct
from rollcall.catalog.brokers.result import (
    BrokerIdentity,
    BrokerKind,
    ClosestRelease,
    Evidence,
    EvidenceKind,
    LineCandidate,
    ReleaseInference,
)
from rollcall.catalog.clients.applications import application_rules
from rollcall.catalog.clients.compatibility import (
    LibraryCompatibility,
    Risk,
    RiskReason,
    known_api_versions,
    library_compatibility,
)
from rollcall.catalog.clients.identify import LibraryCandidate, LibraryInference, identify_library
from rollcall.catalog.clients.libraries import engine_of, known_libraries, parse_version
from rollcall.catalog.features import (
    BrokerSupport,
    FeatureResult,
    MissingRequirement,
    Usable,
    usable_features,
)
from rollcall.catalog.loader import CatalogError
from rollcall.catalog.provenance import Provenance
from rollcall.catalog.ranges import Difference, Range, Ranges, differences, intersect
from rollcall.catalog.releases.api_ranges import (
    Acceptance,
    acceptance,
    accepted_ranges,
    accepts,
    is_deprecated,
    is_known_release,
    listed_ranges,
    lists,
    release_line,
)
from rollcall.catalog.releases.log_formats import known_log_formats, log_format, log_format_of
from rollcall.catalog.releases.release import Release, UnknownReleaseError

__all__ = [
    "Acceptance",
    "BrokerIdentity",
    "BrokerKind",
    "BrokerSupport",
    "CatalogError",
    "ClosestRelease",
    "Difference",
    "Evidence",
    "EvidenceKind",
    "FeatureResult",
    "LibraryCandidate",
    "LibraryCompatibility",
    "LibraryInference",
    "LineCandidate",
    "MissingRequirement",
    "Mode",
    "OtherProduct",
    "Provenance",
    "Range",
    "Ranges",
    "Release",
    "ReleaseInference",
    "Risk",
    "RiskReason",
    "UnknownReleaseError",
    "Usable",
    "acceptance",
    "accepted_ranges",
    "accepts",
    "api_name",
    "api_names",
    "application_rules",
    "differences",
    "engine_of",
    "identify_broker",
    "identify_library",
    "identify_release",
    "identify_without_api_versions",
    "intersect",
    "is_deprecated",
    "is_known_release",
    "known_api_versions",
    "known_apis",
    "known_libraries",
    "known_log_formats",
    "library_compatibility",
    "listed_ranges",
    "lists",
    "log_format",
    "log_format_of",
    "parse_version",
    "release_line",
    "usable_features",
]
