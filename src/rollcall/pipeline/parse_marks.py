"""What text and JSON lines have in common."""

from __future__ import annotations

CONNECTION, TOTAL, THROTTLE, RESPONSE_QUEUE, WHO = 1, 2, 6, 7, 9
"""Where the connection, three of its times and its owner are in a tail, cut at its commas."""

NAME = r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?"
"""A valid name or version of software (KIP-511): a broker refuses others and does not keep them."""

REPLICA_APIS = (1, 2, 23)
"""Fetch, ListOffsets and OffsetForLeaderEpoch carry the id of the replica that asks."""
