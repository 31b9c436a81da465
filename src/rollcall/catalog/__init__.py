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
    guess         the values of a judgement about a broker
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
from rollcall.catalog.brokers.fingerprints import Circumstance
from rollcall.catalog.brokers.identify import identify_release, identify_unanswered
from rollcall.catalog.brokers.identity import BrokerIdentity, identify_broker
from rollcall.catalog.brokers.other_products import OtherCandidate
from rollcall.catalog.brokers.result import (
    Candidate,
    Evidence,
    NextBest,
    ReleaseGuess,
    Sign,
    Verdict,
)
from rollcall.catalog.clients.applications import application_of, application_rules
from rollcall.catalog.clients.compatibility import Lack, Outlook, Risk, known_versions, outlook
from rollcall.catalog.clients.identify import Clue, LibraryCandidate, LibraryGuess, identify_library
from rollcall.catalog.clients.libraries import Library, engine_of, known_libraries, parse_version
from rollcall.catalog.features import (
    Feature,
    FeatureVerdict,
    Obstacle,
    Offer,
    Usable,
    known_features,
    usable_features,
)
from rollcall.catalog.loader import CatalogError, TableError
from rollcall.catalog.provenance import Source
from rollcall.catalog.ranges import Difference, Range, Ranges, as_ranges, differences, intersect
from rollcall.catalog.releases.api_ranges import (
    Acceptance,
    acceptance,
    accepted_ranges,
    accepts,
    first_listed,
    is_deprecated,
    is_known,
    line_of,
    listed,
    newest,
    ranges_of,
)
from rollcall.catalog.releases.log_formats import LogForm, known_log_forms, log_form, log_form_of
from rollcall.catalog.releases.release import Line, Release, UnknownReleaseError
from rollcall.catalog.releases.release_lines import known_lines, metadata_versions
from rollcall.catalog.releases.vendor_builds import apache_line

__all__ = [
    "Acceptance",
    "Api",
    "BrokerIdentity",
    "Candidate",
    "CatalogError",
    "Circumstance",
    "Clue",
    "Difference",
    "Evidence",
    "Feature",
    "FeatureVerdict",
    "Lack",
    "Library",
    "LibraryCandidate",
    "LibraryGuess",
    "Line",
    "LogForm",
    "Mode",
    "NextBest",
    "Obstacle",
    "Offer",
    "OtherCandidate",
    "Outlook",
    "Range",
    "Ranges",
    "Release",
    "ReleaseGuess",
    "Risk",
    "Sign",
    "Source",
    "TableError",
    "UnknownReleaseError",
    "Usable",
    "Verdict",
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
    "first_listed",
    "identify_broker",
    "identify_library",
    "identify_release",
    "identify_unanswered",
    "intersect",
    "is_deprecated",
    "is_known",
    "known_apis",
    "known_features",
    "known_libraries",
    "known_lines",
    "known_log_forms",
    "known_versions",
    "line_of",
    "listed",
    "log_form",
    "log_form_of",
    "metadata_versions",
    "newest",
    "outlook",
    "parse_version",
    "ranges_of",
    "usable_features",
]
