"""Reports from the tables: clients, upgrade impact, broker restarts and client problems.

The tables are read with DuckDB, in about a second, without Spark. It is not where facts about
releases and libraries are (`rollcall.catalog`), and it produces no text: a report is a frozen value
with its evidence, which `rollcall.cli` prints.

    impact("tables", "4.0.0").to_arrow()

In reading order:

    query/    queries that all reports share: filters, coverage, usage, brokers, connections
    clients   all clients with software, hosts, connections, requests and API versions
    impact/   clients that break when the brokers are upgraded, with evidence and remedies
    restarts  when brokers started
    problems  clients that misbehave
    timeline  library versions per day
    export    reports as rows of plain values
"""

from rollcall.reports.clients import Client, Clients, clients
from rollcall.reports.impact.broker_limits import BrokerMaximum, MaximumProvenance
from rollcall.reports.impact.findings import Finding, Judgement, Reason, Verdict
from rollcall.reports.impact.owners import Owners, read_owners
from rollcall.reports.impact.remedies import Remedy, RemedyKind
from rollcall.reports.impact.report import ClientImpact, Impact, impact
from rollcall.reports.problems import (
    Problem,
    ProblemKind,
    Problems,
    ProblemThresholds,
    RateUnit,
    problems,
)
from rollcall.reports.query.coverage import Coverage, CoverageLimit, ObservedBroker
from rollcall.reports.query.database import Reader, open_tables
from rollcall.reports.query.filters import Filters, UnknownNameError
from rollcall.reports.query.usage import ClientKey, VersionUse
from rollcall.reports.restarts import BrokerStarts, Restarts, restarts
from rollcall.reports.timeline import VersionTimeline, version_timeline

__all__ = [
    "BrokerMaximum",
    "BrokerStarts",
    "Client",
    "ClientImpact",
    "ClientKey",
    "Clients",
    "Coverage",
    "CoverageLimit",
    "Filters",
    "Finding",
    "Impact",
    "Judgement",
    "MaximumProvenance",
    "ObservedBroker",
    "Owners",
    "Problem",
    "ProblemKind",
    "ProblemThresholds",
    "Problems",
    "RateUnit",
    "Reader",
    "Reason",
    "Remedy",
    "RemedyKind",
    "Restarts",
    "UnknownNameError",
    "Verdict",
    "VersionTimeline",
    "VersionUse",
    "clients",
    "impact",
    "open_tables",
    "problems",
    "read_owners",
    "restarts",
    "version_timeline",
]
