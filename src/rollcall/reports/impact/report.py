"""What breaks at an upgrade: every client held against a target release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from rollcall.catalog import Release, UnknownReleaseError, is_known_release, release_line
from rollcall.reports.export import flat_impact, to_arrow
from rollcall.reports.impact.evidence import read_ceilings, read_history, read_versions
from rollcall.reports.impact.findings import Judgement, Verdict
from rollcall.reports.impact.owners import NOBODY_SAID, Owners
from rollcall.reports.impact.remedies import Remedy, remedies
from rollcall.reports.impact.rules import Judge
from rollcall.reports.inventory import read_inventory
from rollcall.reports.query.basis import Basis
from rollcall.reports.query.brokers import ceilings, common_ranges, read_heard, releases_of
from rollcall.reports.query.coverage import hear
from rollcall.reports.query.database import Tables, open_tables
from rollcall.reports.query.filters import EVERYTHING, Question
from rollcall.reports.query.usage import make_sightings
from rollcall.reports.shapes import IMPACT

MIN_DAYS = 7
MANY = 20
"""A host with more principals or software names than this looks like a proxy."""
PROXIES = """
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
    """The release that was given, or the lines that fit what the brokers tell."""
    basis: Basis
    clients: tuple[ClientImpact, ...]
    """The worst first."""
    proxies: tuple[str, ...] = ()
    min_days: int = MIN_DAYS
    has_owners: bool = False
    """Somebody said who owns what; without that, the principal stands for its owner."""

    @property
    def counts(self) -> Mapping[Verdict, int]:
        found = Counter(it.verdict for it in self.clients)
        return {verdict: found[verdict] for verdict in Verdict}

    @property
    def breaking_owners(self) -> tuple[str | None, ...]:
        return tuple(owner for owner, counts in self.by_owner.items() if counts[Verdict.BREAKS])

    @property
    def by_owner(self) -> Mapping[str | None, Counter[Verdict]]:
        """Whom to write to: how many clients of each owner are not safe; who has most, first."""
        found: dict[str | None, Counter[Verdict]] = {}
        for it in self.clients:
            if it.verdict is not Verdict.SAFE:
                found.setdefault(it.owner, Counter())[it.verdict] += 1
        return dict(sorted(found.items(), key=lambda it: [-it[1][verdict] for verdict in Verdict]))

    @property
    def is_thin(self) -> bool:
        return self.basis.is_thin(self.min_days)

    @property
    def exit_code(self) -> int:
        """1 something breaks; 3 at risk, undecided or too little heard; 0 otherwise."""
        if self.counts[Verdict.BREAKS]:
            return 1
        undecided = self.counts[Verdict.AT_RISK] + self.counts[Verdict.UNKNOWN]
        return 3 if undecided or self.is_thin else 0

    def to_arrow(self) -> Any:
        """A `pyarrow.Table`, a row each."""
        return to_arrow(map(flat_impact, self.clients), IMPACT)


def _check(target: Release) -> None:
    line = release_line(target)
    if not is_known_release(target):
        raise UnknownReleaseError(
            f"there is no release {target} in the catalog",
            hint=f"it knows {line.name} up to {max(line.patches)}: that is what {line.name} means",
        )


def impact(
    tables: Tables,
    target: str | Release,
    *,
    question: Question = EVERYTHING,
    broker_release: str | Release | None = None,
    owners: Owners = NOBODY_SAID,
    proxies: Collection[str] = (),
    min_days: int = MIN_DAYS,
) -> Impact:
    """Judge every client that the tables know; `broker_release` is what the brokers run now."""
    wanted, running = _release(target), _release(broker_release) if broker_release else None
    _check(wanted)  # a target nobody knows is told before anything is read
    reader = open_tables(tables, question)
    hear(reader)
    heard = reader.beside(read_heard)
    make_sightings(reader)
    basis, told = heard.result()
    inventory = read_inventory(reader, common_ranges(told))
    judge = Judge(wanted)
    pairs = {(use.api_key, use.api_version) for it in inventory.clients for use in it.uses}
    refused = {pair for pair in pairs if judge.refuses(*pair)}
    history = read_history(reader, refused)
    met = read_ceilings(reader, refused, ceilings(reader, told, running))
    software = read_versions(reader) if any(map(judge.risks, inventory.clients)) else {}
    suspected = {row[0] for row in reader.rows(PROXIES, [MANY])}
    judged = []
    for client in inventory.clients:
        who = client.cluster, client.principal, client.application
        judgement = judge.judge(
            client,
            history.get(who, {}),
            met.get(who) or met.get(who[:1], {}),
            inventory.listeners[client.key],
            software.get(who, ()),
        )
        what_to_do = remedies(judgement, wanted, proxies, suspected)
        owner = owners.of(client, inventory.client_ids[client.key])
        judged.append(ClientImpact(judgement, owner, what_to_do))
    judged.sort(key=lambda it: (it.verdict.rank, it.owner or "", -it.judgement.client.requests))
    return Impact(
        wanted,
        (str(running),) if running else releases_of(told),
        inventory.on(basis),
        tuple(judged),
        tuple(sorted({*proxies, *suspected})),
        min_days,
        bool(owners.rules),
    )


def _release(text: str | Release) -> Release:
    return text if isinstance(text, Release) else Release.parse(text)
