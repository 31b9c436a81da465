"""Report of the clients that break, are at risk, unknown or safe at a target release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from rollcall.catalog import Release, UnknownReleaseError, is_known_release, release_line
from rollcall.reports.clients import read_inventory
from rollcall.reports.export import IMPACT, impact_row, to_arrow
from rollcall.reports.impact.broker_limits import BrokerMaximums
from rollcall.reports.impact.evidence import (
    read_broker_maximums,
    read_host_uses,
    read_software_uses,
)
from rollcall.reports.impact.findings import Judgement, Verdict
from rollcall.reports.impact.judge import Judge
from rollcall.reports.impact.owners import NO_OWNERS, Owners
from rollcall.reports.impact.remedies import Remedy, remedies
from rollcall.reports.query.brokers import (
    common_ranges,
    oldest_log_forms,
    read_brokers,
    release_lines,
)
from rollcall.reports.query.coverage import Coverage, prepare_observed_hours
from rollcall.reports.query.database import Tables, open_tables
from rollcall.reports.query.filters import NO_FILTERS, Filters
from rollcall.reports.query.usage import prepare_usage

MIN_DAYS = 7
CLIENTS_OF_PROXY = 20
"""A host with more principals or software names than this is a suspected proxy."""
SUSPECTED_PROXIES = """
SELECT host FROM identities WHERE host IS NOT NULL GROUP BY cluster, host
HAVING count(DISTINCT principal) > $1 OR count(DISTINCT software_name) > $1
"""


@dataclass(frozen=True, slots=True)
class ClientImpact:
    judgement: Judgement
    owner: str | None
    remedies: tuple[Remedy, ...] = ()

    @property
    def verdict(self) -> Verdict:
        return self.judgement.verdict


@dataclass(frozen=True, slots=True)
class Impact:
    target: Release
    running: tuple[str, ...]
    """The configured release, or the release lines that match what the brokers reported."""
    coverage: Coverage
    clients: tuple[ClientImpact, ...]
    """The worst first."""
    proxies: tuple[str, ...] = ()
    min_days: int = MIN_DAYS
    has_owners: bool = False
    """Whether owners were given; otherwise a principal is its own owner."""

    @property
    def counts(self) -> Mapping[Verdict, int]:
        counts = Counter(client.verdict for client in self.clients)
        return {verdict: counts[verdict] for verdict in Verdict}

    @property
    def breaking_owners(self) -> tuple[str | None, ...]:
        return tuple(owner for owner, counts in self.by_owner.items() if counts[Verdict.BREAKS])

    @property
    def by_owner(self) -> Mapping[str | None, Counter[Verdict]]:
        """Number of clients that are not safe, per owner; the worst first."""
        found: dict[str | None, Counter[Verdict]] = {}
        for client in self.clients:
            if client.verdict is not Verdict.SAFE:
                found.setdefault(client.owner, Counter())[client.verdict] += 1
        return dict(
            sorted(found.items(), key=lambda item: [-item[1][verdict] for verdict in Verdict])
        )

    @property
    def is_thin(self) -> bool:
        return self.coverage.is_thin(self.min_days)

    @property
    def exit_code(self) -> int:
        """1 if a client breaks, 3 if one is at risk or unknown or coverage is thin, otherwise 0."""
        if self.counts[Verdict.BREAKS]:
            return 1
        open_verdicts = self.counts[Verdict.AT_RISK] + self.counts[Verdict.UNKNOWN]
        return 3 if open_verdicts or self.is_thin else 0

    def to_arrow(self) -> Any:
        """A `pyarrow.Table` with one row per client."""
        return to_arrow(map(impact_row, self.clients), IMPACT)


def impact(
    tables: Tables,
    target: str | Release,
    *,
    filters: Filters = NO_FILTERS,
    broker_release: str | Release | None = None,
    owners: Owners = NO_OWNERS,
    proxies: Collection[str] = (),
    min_days: int = MIN_DAYS,
) -> Impact:
    """Judge every client in the tables; `broker_release` is the release that the brokers run."""
    wanted, running = _release(target), _release(broker_release) if broker_release else None
    _check_known(wanted)
    reader = open_tables(tables, filters)
    prepare_observed_hours(reader)
    brokers = reader.in_background(read_brokers)
    prepare_usage(reader)
    coverage, reported = brokers.result()
    inventory = read_inventory(reader, common_ranges(reported))
    judge = Judge(wanted)
    used = {(use.api_key, use.api_version) for client in inventory.clients for use in client.uses}
    refused = {pair for pair in used if judge.refuses(*pair)}
    host_uses = read_host_uses(reader, refused)
    maximums = read_broker_maximums(
        reader, refused, BrokerMaximums.build(reported, oldest_log_forms(reader), running)
    )
    has_risks = any(map(judge.risks, inventory.clients))
    software_uses = read_software_uses(reader) if has_risks else {}
    suspected = {row[0] for row in reader.rows(SUSPECTED_PROXIES, [CLIENTS_OF_PROXY])}
    clients = []
    for client in inventory.clients:
        application = client.cluster, client.principal, client.application
        judgement = judge.judge(
            client,
            host_uses.get(application, {}),
            maximums.get(application) or maximums.get(application[:1], {}),
            inventory.listeners[client.key],
            software_uses.get(application, ()),
        )
        owner = owners.of(client, inventory.client_ids[client.key])
        steps = remedies(judgement, wanted, proxies, suspected)
        clients.append(ClientImpact(judgement, owner, steps))
    clients.sort(key=_order)
    return Impact(
        wanted,
        (str(running),) if running else release_lines(reported),
        inventory.complete(coverage),
        tuple(clients),
        tuple(sorted({*proxies, *suspected})),
        min_days,
        bool(owners.rules),
    )


def _order(impact: ClientImpact) -> tuple[int, str, int]:
    return impact.verdict.rank, impact.owner or "", -impact.judgement.client.requests


def _check_known(target: Release) -> None:
    line = release_line(target)
    if not is_known_release(target):
        raise UnknownReleaseError(
            f"there is no release {target} in the catalog",
            hint=f"use {line.name}, which stands for its newest known patch {max(line.patches)}",
        )


def _release(text: str | Release) -> Release:
    return text if isinstance(text, Release) else Release.parse(text)
