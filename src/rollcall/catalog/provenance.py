"""Provenance: how a value is known. Every value shown to a user carries one (885.4)."""

from __future__ import annotations

from enum import StrEnum


class Provenance(StrEnum):
    REPORTED = "reported"
    """The broker or the client states it about itself."""
    INFERRED = "inferred"
    """Derived from evidence, with candidates; may be wrong."""
    CONFIGURED = "configured"
    """Set by the user."""
    MISSING = "missing"
    """Not known."""
