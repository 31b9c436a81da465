"""What a target release does to a client: the rules, from values to values.

1. What was seen decides. A version that the target accepts is safe for that API: who negotiates
   will use that one or a higher one, who is pinned the same. One refused version counts, even
   beside accepted ones, as two instances may share an id. Deprecated is not refused.
2. A refused version below what the broker had is the client's own maximum or a pin: it breaks.
   At the broker's maximum the client may have higher ones: unknown. A library version known to
   have accepted ones is safe, unless a setting can hold it down.
3. A refused version is set aside when the same client used accepted ones on 7 later days.
4. Where nothing refused was seen, a library known to need it for other work is at risk; unless
   it was replaced, and what replaced it was seen on 7 later days.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from rollcall.catalog import (
    Acceptance,
    LibraryCandidate,
    LibraryCompatibility,
    Range,
    Release,
    Risk,
    RiskReason,
    acceptance,
    accepted_ranges,
    known_api_versions,
    library_compatibility,
)
from rollcall.reports.impact.broker_limits import Ceiling
from rollcall.reports.impact.findings import Finding, Judgement, Verdict, Why
from rollcall.reports.impact.superseded import Sighting, set_aside
from rollcall.reports.values import Client, Use

API_VERSIONS = 18
SASL = frozenset({17, 36})
NO_SASL_LISTENERS = frozenset({"PLAINTEXT", "SSL"})
"""Listeners called by these names have the security protocol of that name."""


@dataclass(frozen=True)
class Judge:
    """Holds a target against one client after the other."""

    target: Release

    @cached_property
    def _acceptance(self) -> dict[tuple[int, int], Acceptance]:
        return {}

    @cached_property
    def _compatibilities(self) -> dict[int, tuple[LibraryCandidate, LibraryCompatibility]]:
        """By their ids, as most clients share a few: to compare what they hold takes long."""
        return {}

    def acceptance(self, key: int, version: int) -> Acceptance:
        """What the target does with a version that a client sends; remembered."""
        found = self._acceptance.get((key, version))
        if found is None:
            found = self._acceptance[key, version] = acceptance(self.target, key, version)
        return found

    def refuses(self, key: int, version: int) -> bool:
        return not self._says_nothing(key, version) and self.acceptance(key, version).refused

    def compatibility(self, candidate: LibraryCandidate) -> LibraryCompatibility:
        if id(candidate) not in self._compatibilities:
            found = library_compatibility(
                candidate.library,
                candidate.version,
                self.target,
                engine_version=candidate.engine_version,
                older_than=candidate.older_than,
            )
            self._compatibilities[id(candidate)] = candidate, found
        return self._compatibilities[id(candidate)][1]

    def judge(
        self,
        client: Client,
        history: Mapping[int, Sequence[Sighting]],
        ceilings: Mapping[tuple[int, int], Ceiling],
        listeners: Iterable[str | None] = (),
        software: Sequence[Sighting] = (),
    ) -> Judgement:
        """`history` holds the APIs with a refused version: all that was seen of them. `software`
        is which software the application had when, if it had several."""
        findings = [*self._seen(client, history, ceilings)]
        if not any(finding.verdict is Verdict.BREAKS for finding in findings):
            findings += self._at_risk(client, frozenset(listeners), software)
        used = {(use.api_key, use.api_version) for use in client.uses}
        if not findings and all(self._says_nothing(*use) for use in used):
            findings = [Finding(Verdict.UNKNOWN, Why.NOTHING_SEEN)]
        findings.sort(key=lambda it: (it.verdict.rank, it.why is Why.NO_LONGER_SEEN, -it.requests))
        verdict = findings[0].verdict if findings else Verdict.SAFE
        compatibilities = {
            version: self.compatibility(candidate)
            for version in client.inferences or ()
            if (candidate := _library(client, version)) is not None
        }
        return Judgement(client, verdict, tuple(findings), compatibilities)

    def _says_nothing(self, key: int, version: int) -> bool:
        """SASL's version 0 is what everybody falls back to; and who asks for versions in one that
        the target does not know is told so, and asks in another."""
        if key == API_VERSIONS:
            return self.acceptance(key, version) is not Acceptance.ACCEPTED
        return key in SASL and version == 0

    def _seen(
        self,
        client: Client,
        history: Mapping[int, Sequence[Sighting]],
        ceilings: Mapping[tuple[int, int], Ceiling],
    ) -> Iterator[Finding]:
        refused: dict[tuple[int, int], list[Use]] = {}
        for use in client.uses:
            key, version = use.api_key, use.api_version
            found = self.acceptance(key, version)
            if found is Acceptance.ACCEPTED or self._says_nothing(key, version):
                continue
            if found.refused:
                refused.setdefault((key, version), []).append(use)
            elif found is Acceptance.NOT_YET:
                yield self._finding(Verdict.UNKNOWN, Why.NOT_THERE, [use])
            elif not _asks(client):
                yield self._finding(Verdict.UNKNOWN, Why.ABOVE_UNASKED, [use])
            else:
                yield self._finding(Verdict.SAFE, Why.ABOVE, [use])
        for (key, version), uses in refused.items():
            seen = (it for it in history.get(key, ()) if it.api_version == version)
            ours = [it for it in seen if it.asked_for]
            ceiling = ceilings.get((key, version), Ceiling())
            yield from self._refused(client, uses, ours, history.get(key, ()), ceiling)

    def _refused(
        self,
        client: Client,
        uses: list[Use],
        ours: Sequence[Sighting],
        all_of_api: Sequence[Sighting],
        ceiling: Ceiling,
    ) -> Iterator[Finding]:
        gone = set_aside(
            [it for it in ours if it.software == client.software],
            [it for it in all_of_api if self.acceptance(it.api_key, it.api_version) in _FINE],
        )
        left: dict[tuple[Verdict, Why], list[Use]] = {}
        for use in uses:
            stays = [
                it
                for it in ours
                if it.software == client.software and it.software_version == use.software_version
            ]
            if stays and all(it in gone for it in stays):
                how = Verdict.SAFE, Why.NO_LONGER_SEEN
            elif self._has_accepted(client, use):
                how = Verdict.SAFE, Why.KNOWN_TO_HAVE
            elif ceiling.is_reached and use.api_key in accepted_ranges(self.target):
                how = Verdict.UNKNOWN, Why.REFUSED_AT_MAXIMUM
            else:
                how = Verdict.BREAKS, Why.REFUSED
            left.setdefault(how, []).append(use)
        for (verdict, why), those in left.items():
            versions = {use.software_version for use in those}
            seen = [
                it
                for it in ours
                if it.software == client.software
                and it.software_version in versions
                and (it in gone) == (why is Why.NO_LONGER_SEEN)
            ]
            finding = self._finding(verdict, why, those)
            hosts = tuple(dict.fromkeys(it.host for it in seen if it.host is not None))
            yield replace(finding, hosts=hosts, ceiling=ceiling)

    def _has_accepted(self, client: Client, use: Use) -> bool:
        """A library that a setting can hold down may be held down: knowing it is not enough."""
        candidate = _library(client, use.software_version)
        if candidate is None or self.compatibility(candidate).pin is not None:
            return False
        known = known_api_versions(
            candidate.library, candidate.version, engine_version=candidate.engine_version
        )
        return any(
            self.acceptance(use.api_key, version) is Acceptance.ACCEPTED
            for version in known.get(use.api_key, ())
        )

    def risks(self, client: Client) -> Mapping[str | None, tuple[Risk, ...]]:
        """What each of its versions is known to need, and the target lacks."""
        return {
            version: found
            for version in dict.fromkeys([use.software_version for use in client.uses])
            if (candidate := _library(client, version))
            and (found := self.compatibility(candidate).risks)
        }

    def _at_risk(
        self, client: Client, listeners: frozenset[str | None], software: Sequence[Sighting]
    ) -> Iterator[Finding]:
        risks = self.risks(client)
        seen = {(use.software_version, use.api_key) for use in client.uses if risks}
        versions: dict[Risk, list[str | None]] = {}
        for version, found in risks.items():
            for risk in found:
                was_seen = (
                    risk.reason is not RiskReason.NOT_LISTED and (version, risk.api_key) in seen
                )
                if not was_seen and not _is_impossible(risk, listeners):
                    versions.setdefault(risk, []).append(version)
        for risk, those in versions.items():
            gone = _replaced(client, those, software)
            if stays := tuple(it for it in those if it not in gone):
                yield self._needed(Verdict.AT_RISK, Why.NEEDED, risk, stays)
            if gone:
                yield self._needed(Verdict.SAFE, Why.NO_LONGER_SEEN, risk, tuple(gone))

    def _needed(
        self, verdict: Verdict, why: Why, risk: Risk, versions: tuple[str | None, ...]
    ) -> Finding:
        return Finding(
            verdict,
            why,
            risk.api_key,
            risk.versions,
            accepted_ranges(self.target).get(risk.api_key),
            software_versions=versions,
            risk=risk,
        )

    def _finding(self, verdict: Verdict, why: Why, uses: Sequence[Use]) -> Finding:
        key, version = uses[0].api_key, uses[0].api_version
        return Finding(
            verdict,
            why,
            key,
            Range(version, version),
            accepted_ranges(self.target).get(key),
            tuple(use.software_version for use in uses),
            sum(use.requests for use in uses),
            min(use.first for use in uses),
            max(use.last for use in uses),
        )


_FINE = (Acceptance.ACCEPTED, Acceptance.TOO_NEW)


def _replaced(
    client: Client, versions: Sequence[str | None], software: Sequence[Sighting]
) -> list[str | None]:
    """Those of the versions after which the application used others for days."""
    ours = [
        it
        for it in software
        if it.asked_for and it.software == client.software and it.software_version in versions
    ]
    gone = set_aside(ours, [it for it in software if it not in ours])
    left = {it.software_version for it in ours if it not in gone}
    return [it for it in versions if it not in left] if ours else []


def _asks(client: Client) -> bool:
    """Whether it was seen to ask for the broker's versions: who tells its name does."""
    return client.software is not None or any(it.api_key == API_VERSIONS for it in client.uses)


def _is_impossible(risk: Risk, listeners: frozenset[str | None]) -> bool:
    """Work over SASL, of a client that only uses listeners without it."""
    return risk.only_with_sasl and bool(listeners) and listeners <= NO_SASL_LISTENERS


def _library(client: Client, software_version: str | None) -> LibraryCandidate | None:
    inference = client.inference(software_version)
    if inference is None or inference.library is None:
        return None
    return inference.candidates[0]
