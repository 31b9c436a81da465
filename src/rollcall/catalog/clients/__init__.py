"""Client identification: the library of a client, its application, and its compatibility.

    libraries      known client libraries, from data/libraries.json
    signatures     comparison of a client's API versions with those of known libraries
    identify       the library of a client, reported or inferred
    compatibility  what a target release means for a library version
    applications   the application name in a client id

Observing clients is in `pipeline`, `server` and `gateway`; reports on them are in `reports`.
"""

from rollcall.catalog.clients.applications import (
    ApplicationRule,
    application_of,
    application_rules,
)
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
from rollcall.catalog.clients.libraries import (
    Library,
    engine_of,
    known_libraries,
    parse_version,
)

__all__ = [
    "ApplicationRule",
    "Library",
    "LibraryCandidate",
    "LibraryCompatibility",
    "LibraryEvidence",
    "LibraryInference",
    "Risk",
    "RiskReason",
    "application_of",
    "application_rules",
    "engine_of",
    "identify_library",
    "known_api_versions",
    "known_libraries",
    "library_compatibility",
    "parse_version",
]
