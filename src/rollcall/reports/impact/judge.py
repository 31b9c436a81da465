"""The judgement of a client at a target release: collects the facts and applies the rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rollcall.catalog import (
    Acceptance,
    LibraryCandidate,
    LibraryCompatibility,
    Release,
    Risk,
    acceptance,
    accepted_ranges,
    known_api_versions,
    library_compatibility,
)
from rollcall.reports.clients import Client
from rollcall.reports.impact.broker_limits import BrokerMaximum
from rollcall.reports.impact.findings import Finding, Judgement, Reason, Verdict
from rollcall.reports.impact.rules import (
    API_VERSIONS,
    EXCLUDED_RISK_RULES,
    NEEDED_VERSION_RULES,
    USED_VERSION_RULES,
    NeededVersion,
    UsedVersion,
    first_finding,
    is_uninformative,
)
from rollcall.reports.impact.superseded import HostUse, superseded
from rollcall.reports.query.usage import VersionUse


@dataclass(frozen=True)
class Judge:
    """Applies the rules to one client after another, for one target."""

    target: Release
    _acceptances: dict[tuple[int, int], Acceptance] = field(default_factory=dict)
    _compatibilities: dict[int, tuple[LibraryCandidate, LibraryCompatibility]] = field(
        default_factory=dict
    )
    """By the id of the candidate: clients share few of them, and hashing one is slow."""

    def judge(
        self,
        client: Client,
        host_uses: Mapping[int, Sequence[HostUse]],
        maximums: Mapping[tuple[int, int], BrokerMaximum],
        listeners: Iterable[str | None] = (),
        software_uses: Sequence[HostUse] = (),
    ) -> Judgement:
        """The verdict on a client.

        `host_uses` has all uses of each API of which a refused version was used. `software_uses`
        has the days of each software version, if the application had several."""
        findings = self._used_versions(client, host_uses, maximums)
        if not any(finding.verdict is Verdict.BREAKS for finding in findings):
            findings += self._needed_versions(client, frozenset(listeners), software_uses)
        findings = [finding for finding in findings if finding.reason is not Reason.UNINFORMATIVE]
        if not findings and not any(self._is_accepted(use) for use in client.uses):
            findings = [Finding(Reason.NO_EVIDENCE)]
        findings.sort(key=_order)
        compatibilities = {
            version: self.compatibility(candidate)
            for version in client.inferences or ()
            if (candidate := _library(client, version)) is not None
        }
        return Judgement(client, tuple(findings), compatibilities)

    def acceptance(self, api_key: int, api_version: int) -> Acceptance:
        found = self._acceptances.get((api_key, api_version))
        if found is None:
            found = acceptance(self.target, api_key, api_version)
            self._acceptances[api_key, api_version] = found
        return found

    def refuses(self, api_key: int, api_version: int) -> bool:
        found = self.acceptance(api_key, api_version)
        return found.refused and not is_uninformative(api_key, api_version, found)

    def _is_accepted(self, use: VersionUse) -> bool:
        """Whether the use is informative, and the target accepts it."""
        found = self.acceptance(use.api_key, use.api_version)
        return found is Acceptance.ACCEPTED and not is_uninformative(
            use.api_key, use.api_version, found
        )

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

    def risks(self, client: Client) -> Mapping[str | None, tuple[Risk, ...]]:
        """What each of its software versions needs and the target lacks."""
        return {
            version: risks
            for version in dict.fromkeys([use.software_version for use in client.uses])
            if (candidate := _library(client, version))
            and (risks := self.compatibility(candidate).risks)
        }

    def _used_versions(
        self,
        client: Client,
        host_uses: Mapping[int, Sequence[HostUse]],
        maximums: Mapping[tuple[int, int], BrokerMaximum],
    ) -> list[Finding]:
        """A finding per API version and reason, without accepted versions.

        These are 9 of 10: to apply the rules to them would take 0.4 s for 5,000 clients."""
        findings = []
        for use in client.uses:
            if self._is_accepted(use):
                continue
            pair = use.api_key, use.api_version
            used = UsedVersion(
                use=use,
                acceptance=self.acceptance(*pair),
                accepted=accepted_ranges(self.target).get(use.api_key),
                negotiates=_negotiates(client),
            )
            if self.refuses(*pair):
                used = replace(
                    used,
                    library_supports_accepted=self._library_supports_accepted(client, use),
                    broker_maximum=maximums.get(pair, BrokerMaximum()),
                )
                used = self._with_hosts(used, client, host_uses.get(use.api_key, ()))
            if finding := first_finding(USED_VERSION_RULES, used):
                findings.append(finding)
        return list(_merged(findings))

    def _with_hosts(
        self, used: UsedVersion, client: Client, host_uses: Sequence[HostUse]
    ) -> UsedVersion:
        """With the hosts of a refused version, and whether it is superseded on all of them."""
        own = [
            host_use
            for host_use in host_uses
            if host_use.selected
            and host_use.api_version == used.use.api_version
            and host_use.software == client.software
            and host_use.software_version == used.use.software_version
        ]
        accepted = [
            host_use
            for host_use in host_uses
            if self.acceptance(host_use.api_key, host_use.api_version)
            in (Acceptance.ACCEPTED, Acceptance.TOO_NEW)
        ]
        old = superseded(own, accepted)
        is_superseded = bool(own) and all(host_use in old for host_use in own)
        current = own if is_superseded else [host_use for host_use in own if host_use not in old]
        hosts = tuple(sorted({host_use.host for host_use in current if host_use.host is not None}))
        return replace(used, is_superseded=is_superseded, hosts=hosts)

    def _library_supports_accepted(self, client: Client, use: VersionUse) -> bool:
        """False for a library that a setting can pin to a lower version: this client may be."""
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

    def _needed_versions(
        self, client: Client, listeners: frozenset[str | None], software_uses: Sequence[HostUse]
    ) -> Iterator[Finding]:
        risks = self.risks(client)
        observed = {(use.software_version, use.api_key) for use in client.uses if risks}
        needed: dict[Risk, list[NeededVersion]] = {}
        for version, of_version in risks.items():
            for risk in of_version:
                case = NeededVersion(
                    risk=risk,
                    software_version=version,
                    accepted=accepted_ranges(self.target).get(risk.api_key),
                    is_api_observed=(version, risk.api_key) in observed,
                    listeners=listeners,
                )
                if first_finding(EXCLUDED_RISK_RULES, case) is None:
                    needed.setdefault(risk, []).append(case)
        for cases in needed.values():
            replaced = _replaced(client, [case.software_version for case in cases], software_uses)
            cases = [replace(case, is_replaced=case.software_version in replaced) for case in cases]
            findings = [first_finding(NEEDED_VERSION_RULES, case) for case in cases]
            yield from _merged([finding for finding in findings if finding])


def _order(finding: Finding) -> tuple[int, bool, int]:
    return finding.verdict.rank, finding.reason is Reason.SUPERSEDED, -finding.requests


def _merged(findings: Sequence[Finding]) -> Iterator[Finding]:
    """One finding per API version and reason, for all software versions."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        key = finding.api_key, finding.versions, finding.reason
        groups.setdefault(key, []).append(finding)
    for group in groups.values():
        yield replace(
            group[0],
            software_versions=tuple(v for finding in group for v in finding.software_versions),
            requests=sum(finding.requests for finding in group),
            first=min((finding.first for finding in group if finding.first), default=None),
            last=max((finding.last for finding in group if finding.last), default=None),
            hosts=tuple(sorted({host for finding in group for host in finding.hosts})),
        )


def _replaced(
    client: Client, versions: Sequence[str | None], software_uses: Sequence[HostUse]
) -> list[str | None]:
    """The software versions after which the application used others on 7 later days."""
    own = [
        host_use
        for host_use in software_uses
        if host_use.selected
        and host_use.software == client.software
        and host_use.software_version in versions
    ]
    old = superseded(own, [host_use for host_use in software_uses if host_use not in own])
    current = {host_use.software_version for host_use in own if host_use not in old}
    return [version for version in versions if version not in current] if own else []


def _negotiates(client: Client) -> bool:
    """Whether the client sends ApiVersions: one that reports its name does."""
    return client.software is not None or API_VERSIONS in client.apis


def _library(client: Client, software_version: str | None) -> LibraryCandidate | None:
    inference = client.inference(software_version)
    if inference is None or inference.library is None:
        return None
    return inference.candidates[0]
