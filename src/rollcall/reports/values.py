"""A client, and what it was seen to use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

from rollcall.catalog import LibraryInference, Provenance


class Use(NamedTuple):
    """One version of one API, as a client of one software version used it in the window."""

    api_key: int
    api_version: int
    software_version: str | None
    requests: int
    first: datetime
    last: datetime


class _Sums(NamedTuple):
    versions: Mapping[str, int]
    apis: Mapping[int, tuple[int, int]]


@dataclass(frozen=True)
class Client:
    """A principal's application on one software: what `clients` lists and `impact` judges."""

    cluster: str | None
    principal: str | None
    application: str | None
    software: str | None
    """The name it told, or one told by the same principal, client id and host within a day."""
    uses: tuple[Use, ...] = ()
    inferred_requests: int = 0
    """Requests that told no name themselves, and took the one told by those others."""
    inferences: Mapping[str | None, LibraryInference] | None = None
    """Its library, for each software version that it told."""
    other_names: tuple[str, ...] = ()
    """Several names were told from there: it is one of these."""
    hosts: tuple[str, ...] = ()
    """Some of them; `host_count` is how many."""
    host_count: int = 0
    client_ids: tuple[str, ...] = ()
    client_id_count: int = 0
    connections: int = 0

    @property
    def key(self) -> ClientKey:
        return ClientKey(self.cluster, self.principal, self.application, self.software)

    @property
    def named(self) -> Provenance:
        """How the name is known: told, or taken from others for every one of its requests."""
        if self.software is None:
            return Provenance.MISSING
        told = self.inferred_requests < self.requests
        return Provenance.REPORTED if told else Provenance.INFERRED

    @cached_property
    def requests(self) -> int:
        return sum([use.requests for use in self.uses])

    @cached_property
    def _sums(self) -> _Sums:
        """Once over all that it used: of thousands of clients, reports ask for most of it."""
        versions: dict[str, int] = {}
        apis: dict[int, tuple[int, int]] = {}
        for key, version, software_version, requests, _, _ in self.uses:
            if software_version is not None:
                versions[software_version] = versions.get(software_version, 0) + requests
            if (found := apis.get(key)) is None:
                apis[key] = version, version
            else:
                apis[key] = min(found[0], version), max(found[1], version)
        return _Sums(versions, dict(sorted(apis.items())))

    @property
    def first(self) -> datetime:
        return min([use.first for use in self.uses])

    @property
    def last(self) -> datetime:
        return max([use.last for use in self.uses])

    @property
    def versions(self) -> tuple[str, ...]:
        """Software versions, those with most requests first."""
        counts = self._sums.versions
        if len(counts) < 2:  # as most clients have
            return tuple(counts)
        return tuple(sorted(counts, key=lambda version: (-counts[version], version)))

    @property
    def apis(self) -> Mapping[int, tuple[int, int]]:
        """Its APIs with the lowest and the highest version used."""
        return self._sums.apis

    @cached_property
    def library(self) -> str | None:
        """The library, where only one is possible."""
        found = {inference.library for inference in (self.inferences or {}).values()}
        return found.pop() if len(found) == 1 else None

    @property
    def is_identified(self) -> bool:
        return self.software is not None or self.library is not None

    def inference(self, software_version: str | None) -> LibraryInference | None:
        return (self.inferences or {}).get(software_version)


class ClientKey(NamedTuple):
    cluster: str | None
    principal: str | None
    application: str | None
    software: str | None
