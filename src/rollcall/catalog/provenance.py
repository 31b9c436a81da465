"""How we know a thing: every value that is shown carries it (885.4)."""

from __future__ import annotations

from enum import StrEnum


class Provenance(StrEnum):
    REPORTED = "reported"
    """The broker or the client said so itself."""
    INFERRED = "inferred"
    """Concluded from what it does; there are candidates, and it may be wrong."""
    CONFIGURED = "configured"
    """Somebody told us in a setting."""
    MISSING = "missing"
    """Nothing is known, and nothing is made up."""
