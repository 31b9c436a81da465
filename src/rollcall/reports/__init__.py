"""TABLES -> ANSWERS: who is on the cluster, what breaks at an upgrade, who restarted, who
misbehaves. Read from the tables with DuckDB, in a second, without starting Spark.

It is not where facts about releases and libraries are (`catalog`), and it makes no prose: answers
are frozen values with their evidence, and only the command line turns them into sentences.

    impact("tables", "4.0.0").to_arrow()

In reading order:

    question    what is asked for: a window, and whose rows
    wildcards   names with `*` and `?`
    basis       what an answer rests on
    values      a client, and what it was seen to use
    reading     the tables opened for one question
    known       names that were asked for, and nobody has
    hearing     what was heard of brokers, and when: the basis
    sightings   usage added up per client and version, nameless rows given their names
    brokers     what brokers told of themselves
    inventory   the clients, with their libraries
    connections who opened how many
    clients     the answer: who is on the cluster
    ceilings    the highest version that a broker had
    history     whether a client is done with an old version
    findings    what a judgement is made of
    verdicts    what a target does to a client: the rules
    remedies    what to do about it
    owners      whom to write to
    refused     what is read of versions that a target refuses
    impact      the answer: what breaks at an upgrade
    starts      what roll calls tell of broker starts
    restarts    the answer: when brokers started
    complaints  what misbehaving is
    trouble     the answer: who misbehaves
    over_time   library versions day by day
    shapes      the columns of plain rows
    flat        answers as plain rows
"""

from rollcall.reports.clients import Clients, clients
from rollcall.reports.complaints import Limits, Trouble
from rollcall.reports.impact.findings import Finding, Judgement, Verdict, Why
from rollcall.reports.impact.owners import Owners, read_owners
from rollcall.reports.impact.remedies import Remedy, Step
from rollcall.reports.impact.report import ClientImpact, Impact, impact
from rollcall.reports.problems import trouble
from rollcall.reports.query.basis import Basis, HeardBroker, Limit
from rollcall.reports.query.filters import Question
from rollcall.reports.query.unknown_names import UnknownNameError
from rollcall.reports.restarts import restarts
from rollcall.reports.starts import Restarts
from rollcall.reports.values import Client, ClientKey, Use

__all__ = [
    "Basis",
    "Client",
    "ClientImpact",
    "ClientKey",
    "Clients",
    "Finding",
    "HeardBroker",
    "Impact",
    "Judgement",
    "Limit",
    "Limits",
    "Owners",
    "Question",
    "Remedy",
    "Restarts",
    "Step",
    "Trouble",
    "UnknownNameError",
    "Use",
    "Verdict",
    "Why",
    "clients",
    "impact",
    "read_owners",
    "restarts",
    "trouble",
]
