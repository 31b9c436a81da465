"""ApiVersions: the one request that is answered at every stage (KIP-35, KIP-511)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from rollcall.protocol.dialects import RELEASED, Dialect
from rollcall.protocol.error_codes import Errors
from rollcall.protocol.headers import Request
from rollcall.protocol.messages import Message
from rollcall.protocol.schema import API_VERSIONS_KEY
from rollcall.protocol.versions import VersionRange
from rollcall.server.gauge import OTHER

# Kafka's expression, for the whole string; the one that KIP-511 prints is a slip of it.
SOFTWARE: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
FIRST_NAMED_VERSION: Final = 3
MAX_SOFTWARE_LENGTH: Final = 256
"""Kafka sets no bound. Longer ones are accepted too, but kept as `other`."""


class ApiVersionsAnswer(NamedTuple):
    """The response, the version of its layout, and who the client said it is, if it did."""

    body: Message | None
    """The request; None in a version nobody knows."""
    message: Message
    version: int
    wire: bytes
    """The message as bytes: they are the same for every client."""
    software: tuple[str, str] | None = None


class ApiVersions:
    """All answers of one listener, made once."""

    def __init__(self, dialect: Dialect, ranges: Mapping[int, VersionRange]) -> None:
        self._api = dialect.apis[API_VERSIONS_KEY]
        self._range = ranges[API_VERSIONS_KEY]
        self._dialect = dialect
        response = dialect.message_class(self._api.response.name)

        def entries(keys: Mapping[int, VersionRange]) -> list[Message]:
            return [
                response.ApiVersion(api_key=key, min_version=r.lowest, max_version=r.highest)
                for key, r in keys.items()
            ]

        self.listing = response(
            api_keys=entries(ranges),
            dialect=None if dialect.name == RELEASED else dialect.name,
        )
        self.unsupported = response(
            error_code=Errors.UNSUPPORTED_VERSION,
            api_keys=entries({API_VERSIONS_KEY: self._range}),
        )
        self.invalid = response(error_code=Errors.INVALID_REQUEST)
        self._readers = {v: dialect.codec(self._api.request.name, v) for v in self._range}
        self._listings = {v: self._encode(self.listing, v) for v in self._range}
        self._unsupported_wire = self._encode(self.unsupported, 0)

    def answer(self, request: Request) -> ApiVersionsAnswer:
        version = request.api_version
        if version not in self._range:
            # Nobody can read the body of such a request, but everybody can read version 0.
            return ApiVersionsAnswer(None, self.unsupported, 0, self._unsupported_wire)
        # As in Kafka, bytes behind the body are nobody's business.
        body, _ = self._readers[version].read(request.frame, request.body_offset)
        software = None
        if version >= FIRST_NAMED_VERSION:
            software = (body.client_software_name, body.client_software_version)
            if not all(map(SOFTWARE.fullmatch, software)):
                wire = self._encode(self.invalid, version)
                return ApiVersionsAnswer(body, self.invalid, version, wire)
            if max(map(len, software)) > MAX_SOFTWARE_LENGTH:
                software = (OTHER, OTHER)
        return ApiVersionsAnswer(body, self.listing, version, self._listings[version], software)

    def _encode(self, message: Message, version: int) -> bytes:
        return self._dialect.codec(self._api.response.name, version).encode(message)
