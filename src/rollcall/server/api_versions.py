"""ApiVersions requests (KIP-35, KIP-511), served before and after authentication."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from rollcall.protocol import (
    API_VERSIONS_KEY,
    RELEASED,
    Dialect,
    Errors,
    Message,
    Request,
    VersionRange,
)
from rollcall.server.gauge import OTHER

SOFTWARE_PATTERN: Final = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
"""Valid software names and versions of clients, as in Kafka's code; the text of KIP-511 differs.
A client that sends another one gets INVALID_REQUEST, and its connection stays open."""
FIRST_VERSION_WITH_SOFTWARE: Final = 3
MAX_SOFTWARE_LENGTH: Final = 256
"""Kafka has no limit. Longer names are accepted and stored as `other`."""


class ApiVersionsResult(NamedTuple):
    """The response to an ApiVersions request, and the client software it reported."""

    body: Message | None
    """The request; None if its version is unknown."""
    response: Message
    version: int
    """Version in which the response is encoded."""
    encoded: bytes
    software: tuple[str, str] | None = None


class ApiVersions:
    """Serves the ApiVersions requests of one listener from responses that are encoded once."""

    def __init__(self, dialect: Dialect, ranges: Mapping[int, VersionRange]) -> None:
        self._api = dialect.apis[API_VERSIONS_KEY]
        self._range = ranges[API_VERSIONS_KEY]
        self._dialect = dialect
        response = dialect.message_class(self._api.response.name)

        def entries(ranges: Mapping[int, VersionRange]) -> list[Message]:
            return [
                response.ApiVersion(
                    api_key=key, min_version=versions.lowest, max_version=versions.highest
                )
                for key, versions in ranges.items()
            ]

        self._supported = response(
            api_keys=entries(ranges),
            dialect=None if dialect.name == RELEASED else dialect.name,
        )
        self._unsupported = response(
            error_code=Errors.UNSUPPORTED_VERSION,
            api_keys=entries({API_VERSIONS_KEY: self._range}),
        )
        self._invalid = response(error_code=Errors.INVALID_REQUEST)
        self._request_codecs = {v: dialect.codec(self._api.request.name, v) for v in self._range}
        self._encoded = {v: self._encode(self._supported, v) for v in self._range}
        self._encoded_unsupported = self._encode(self._unsupported, 0)

    def handle(self, request: Request) -> ApiVersionsResult:
        version = request.api_version
        if version not in self._range:
            # The body of an unknown version cannot be read; every client reads version 0.
            return ApiVersionsResult(None, self._unsupported, 0, self._encoded_unsupported)
        # Kafka ignores bytes after the body as well.
        body, _ = self._request_codecs[version].read(request.frame, request.body_offset)
        software = None
        if version >= FIRST_VERSION_WITH_SOFTWARE:
            software = (body.client_software_name, body.client_software_version)
            if not all(map(SOFTWARE_PATTERN.fullmatch, software)):
                encoded = self._encode(self._invalid, version)
                return ApiVersionsResult(body, self._invalid, version, encoded)
            if max(map(len, software)) > MAX_SOFTWARE_LENGTH:
                software = (OTHER, OTHER)
        return ApiVersionsResult(body, self._supported, version, self._encoded[version], software)

    def _encode(self, message: Message, version: int) -> bytes:
        return self._dialect.codec(self._api.response.name, version).encode(message)
