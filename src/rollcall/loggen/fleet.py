"""A synthetic fleet: brokers, and the clients that send requests to them.

Everything is derived from the seed. A client is one running instance with its own client id and
address; instances of one application share principal, group and software.
"""

from __future__ import annotations

import base64
import random
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rollcall.catalog import Release, known_log_formats
from rollcall.errors import ConfigError
from rollcall.loggen.bodies import BrokerEndpoint

RELEASES: Mapping[str, tuple[str, ...]] = {
    "A": ("0.8.0",),
    "B": ("0.8.2.2",),
    "C": ("0.9.0.1", "0.10.0.1"),
    "D": ("0.10.2.2",),
    "E": ("0.11.0.3",),
    "F": ("1.0.2", "2.4.1"),
    "G": ("2.5.1",),
    "H": ("2.8.2",),
    "I": ("3.9.0",),
    "J": ("3.9.1", "4.3.0"),
}
"""Releases that write each form of the request log; brokers are assigned in turn."""
MIXED = "mixed"

PORTS = {"PLAINTEXT": 9092, "SSL": 9093, "SASL_SSL": 9094, "REPLICATION": 9091, "CONTROLLER": 9090}

# library and version in the catalog, the software that it reports, and its weight
SOFTWARE = (
    ("apache-kafka-java", "0.11", None, 1),
    ("apache-kafka-java", "1.0", None, 2),
    ("apache-kafka-java", "2.0", None, 3),
    ("apache-kafka-java", "2.4", ("apache-kafka-java", "2.4.1"), 4),
    ("apache-kafka-java", "2.8", ("apache-kafka-java", "2.8.2"), 8),
    ("apache-kafka-java", "3.3", ("apache-kafka-java", "3.3.2"), 8),
    ("apache-kafka-java", "3.6", ("apache-kafka-java", "3.6.1"), 10),
    ("apache-kafka-java", "3.9", ("apache-kafka-java", "7.9.1-ccs"), 6),
    ("apache-kafka-java", "4.1", ("apache-kafka-java", "4.1.0"), 8),
    ("librdkafka", "1.3.0", None, 2),
    ("librdkafka", "2.0.2", ("librdkafka", "2.0.2"), 5),
    ("librdkafka", "2.16.0", ("confluent-kafka-python", "2.16.1-rdkafka-2.16.0"), 6),
    ("librdkafka", "2.16.0", ("confluent-kafka-go", "2.16.0"), 4),
    ("librdkafka", "2.16.0", ("confluent-kafka-dotnet", "2.16.0"), 4),
    ("sarama", "1.61.1", ("sarama", "v1.61.1"), 4),
    ("franz-go", "1.22.2", ("kgo", "v1.22.2"), 4),
    ("kafka-python", "1.4.7", None, 2),
    ("kafka-python", "2.0.2", None, 3),
    ("kafka-python", "3.0.12", ("kafka-python", "3.0.12"), 3),
    ("kafkajs", "2.2.4", None, 3),
    ("aiokafka", "0.14.0", None, 2),
    ("kafka-go", "0.4.51", None, 2),
    ("ruby-kafka", "1.5.1", None, 1),
    ("kafka-node", "5.0.0", None, 1),
)

# software pinned by a setting, and the release whose versions it then uses
PINNED = (
    ("sarama", "1.61.1", "0.10.2", "sarama with Config.Version 0.10.2.0"),
    ("sarama", "1.61.1", "1.0", "sarama with Config.Version 1.0.0.0"),
    ("kafka-python", "2.0.2", "0.10.1", "kafka-python with api_version=(0, 10, 1)"),
    ("librdkafka", "1.3.0", "0.9", "librdkafka with broker.version.fallback=0.9.0.1"),
)

TEAMS = (
    "payments", "billing", "shipping", "catalog", "search", "fraud", "loyalty", "pricing",
    "warehouse", "returns", "notifications", "identity", "analytics", "reporting", "mobile", "ads",
)  # fmt: skip
KINDS = ("loader", "reader", "writer", "sync", "export", "router", "enricher", "gateway")
TOPICS = (
    "orders", "payments.v2", "shipments", "clicks", "audit-log", "inventory.changes", "prices",
    "customers_compacted", "returns", "emails.outgoing", "sessions", "fraud-scores", "invoices",
    "stock-levels", "search-index", "metrics.raw", "events.mobile.ios", "events.mobile.android",
)  # fmt: skip
POD_LETTERS = "bcdfghjklmnpqrstvwxz2456789"

# valid client ids that a careless parser misreads
ODD_CLIENT_IDS = (
    'loader, correlationId=1) -- {"clientInformation":{"softwareName":"forged"}}',
    "reader} -- {a=1} from connection 9.9.9.9:1-8.8.8.8:2-3;totalTime:1 (kafka.request.logger)",
    'quote " backslash \\ brace { bracket ] comma ,',
    "émile-🚚-配送",
)

REPLICA = "replica"
CONTROLLER = "controller"
FORWARDED = "forwarded"
KAFKA_PYTHON = ("kafka-python", "3.0.12", ("kafka-python", "3.0.12"))
MISBEHAVING: Mapping[str, tuple[Sequence[object], int, int]] = {
    "reconnect storm": (KAFKA_PYTHON, 60, 3),
    "single-request connections": (KAFKA_PYTHON, 20, 1),
    "Metadata flood": (("kafkajs", "2.2.4", None), 60, 4000),
    "ApiVersions flood": (("franz-go", "1.22.2", ("kgo", "v1.22.2")), 20, 2500),
    "errors and throttling": (
        ("apache-kafka-java", "3.6", ("apache-kafka-java", "3.6.1")), 60, 700,
    ),
}  # fmt: skip
"""Software, weight and requests per connection of the client with each behaviour."""


@dataclass(frozen=True, slots=True)
class Broker:
    id: int
    release: Release
    form: str
    address: str
    address_v6: str
    rack: str
    decimal_comma: bool

    @property
    def directory(self) -> str:
        return f"broker-{self.id}"

    @property
    def endpoint(self) -> BrokerEndpoint:
        return BrokerEndpoint(self.id, self.address, PORTS["PLAINTEXT"], self.rack)


@dataclass(frozen=True, slots=True)
class Client:
    """One running instance."""

    application: str
    owner: str
    client_id: str | None
    principal: str
    protocol: str
    listener: str
    host: str
    library: str
    library_version: str
    software_reported: tuple[str, str] | None
    role: str
    weight: int
    connection_requests: int
    """Requests per connection."""
    group: str
    member: str
    behaviour: str | None = None
    pinned: str | None = None
    pinned_release: str | None = None
    ports: tuple[int, int] = field(default=(0, 1))
    """Index among the clients that share the address, and their number."""


@dataclass(frozen=True, slots=True)
class Fleet:
    brokers: tuple[Broker, ...]
    clients: tuple[Client, ...]
    topics: tuple[tuple[str, str], ...]


def make_fleet(*, seed: int, form: str, brokers: int) -> Fleet:
    rng = random.Random(seed)  # noqa: S311 - not used for security
    all_brokers = tuple(make_brokers(form, brokers))
    clients = [*applications(rng), *pinned_clients(rng), *misbehaving_clients(rng)]
    clients += [
        *clients_behind_a_proxy(rng),
        *clients_with_odd_ids(rng),
        *broker_clients(len(all_brokers)),
    ]
    return Fleet(all_brokers, tuple(clients), tuple((name, kafka_uuid(rng)) for name in TOPICS))


def make_brokers(form: str, count: int) -> Iterator[Broker]:
    releases = releases_of(form)
    for id_ in range(count):
        release = Release.parse(releases[id_ % len(releases)])
        letter = next(name for name, of in RELEASES.items() if str(release) in of)
        high, low = divmod(id_, 250)
        yield Broker(
            id=id_,
            release=release,
            form=letter,
            address=f"10.1.{high}.{low + 1}",
            address_v6=f"fd00:0:0:0:0:0:{high:x}:{low + 1:x}",
            rack=f"rack-{id_ % 3}",
            decimal_comma=letter == "E" and id_ % 2 == 1,
        )


def releases_of(form: str) -> Sequence[str]:
    if form == MIXED:
        return [release for releases in RELEASES.values() for release in releases]
    if form not in RELEASES:
        raise ConfigError(
            f"unknown form {form!r} of the request log",
            hint=f"use one of {', '.join(known_log_formats())}, or {MIXED}",
        )
    return RELEASES[form]


def applications(rng: random.Random, count: int = 110) -> Iterator[Client]:
    for number in range(count):
        team, kind = rng.choice(TEAMS), rng.choice(KINDS)
        application = f"{team}-{kind}"
        *software, _ = rng.choices(SOFTWARE, [row[3] for row in SOFTWARE])[0]
        security = rng.choices(("PLAINTEXT", "SSL", "SASL_SSL"), (3, 2, 5))[0]
        role = rng.choices(("consumer", "producer", "both", "admin"), (5, 4, 2, 1))[0]
        weight = rng.choices((1, 2, 5, 12, 30), (8, 6, 4, 2, 1))[0]
        for instance in range(rng.choice((1, 1, 2, 3, 4, 6, 8, 12))):
            yield make_client(
                rng,
                application=application,
                owner=team,
                client_id=with_suffix(rng, application, str(software[0]), role, instance),
                protocol=security,
                host=_host(rng, number, instance),
                software=software,
                role=role,
                weight=weight,
            )


def make_client(
    rng: random.Random,
    *,
    application: str,
    owner: str,
    client_id: str | None,
    protocol: str,
    host: str,
    software: Sequence[object],
    role: str,
    weight: int,
    connection_requests: int = 0,
    behaviour: str | None = None,
    pinned: str | None = None,
    pinned_release: str | None = None,
    ports: tuple[int, int] = (0, 1),
) -> Client:
    library, version, reported = software
    return Client(
        application=application,
        owner=owner,
        client_id=client_id,
        principal=principal_of(application, owner, protocol),
        protocol=protocol,
        listener=protocol,
        host=host,
        library=str(library),
        library_version=str(version),
        software_reported=reported if isinstance(reported, tuple) else None,
        role=role,
        weight=weight,
        connection_requests=connection_requests or rng.randint(60, 900),
        group=f"{application}-group",
        member=f"{application}-{_uuid(rng)}",
        behaviour=behaviour,
        pinned=pinned,
        pinned_release=pinned_release,
        ports=ports,
    )


def principal_of(application: str, owner: str, protocol: str) -> str:
    if protocol == "PLAINTEXT":
        return "User:ANONYMOUS"
    if protocol == "SSL":
        return f"User:CN={application},OU={owner},O=Example Corp,C=DE"
    return f"User:svc-{owner}"


def with_suffix(
    rng: random.Random, application: str, library: str, role: str, instance: int
) -> str | None:
    """A client id with the suffixes that programs, pods and libraries add."""
    pod = "".join(rng.choices(POD_LETTERS, k=10)) + "-" + "".join(rng.choices(POD_LETTERS, k=5))
    styles = [
        application,
        f"{application}-{instance}",
        f"{application}-{_uuid(rng)}",
        f"{application}-{pod}",
        f"{application}-{_uuid(rng)}-StreamThread-{instance + 1}-{role}",
        f"{role}-{application}-group-{instance + 1}",
    ]
    if library == "kafka-go":
        return None if instance % 2 else f"{application}@{pod} (github.com/segmentio/kafka-go)"
    defaults = {"sarama": "sarama", "kafkajs": "kafkajs", "librdkafka": "rdkafka"}
    if library in defaults and rng.random() < 0.3:
        return defaults[library]
    return rng.choice(styles)


def pinned_clients(rng: random.Random) -> Iterator[Client]:
    for number, (library, version, release, setting) in enumerate(PINNED):
        application = f"legacy-{library}-{number}"
        for instance in range(2):
            yield make_client(
                rng,
                application=application,
                owner="legacy",
                client_id=f"{application}-{instance}",
                protocol="SASL_SSL" if number % 2 else "PLAINTEXT",
                host=f"10.30.{number}.{instance + 10}",
                software=(library, version, None),
                role="both",
                weight=4,
                pinned=setting,
                pinned_release=release,
            )


def misbehaving_clients(rng: random.Random) -> Iterator[Client]:
    for number, (behaviour, row) in enumerate(MISBEHAVING.items()):
        software, weight, connection_requests = row
        yield make_client(
            rng,
            application=f"problem-{number}",
            owner="problem",
            client_id=f"problem-{number}-{'health' if number == 1 else 'worker'}",
            protocol="PLAINTEXT",
            host=f"10.40.0.{number + 10}",
            software=software,
            role="consumer",
            weight=weight,
            connection_requests=connection_requests,
            behaviour=behaviour,
        )


def clients_behind_a_proxy(rng: random.Random, count: int = 25) -> Iterator[Client]:
    """Many principals with one address."""
    for number in range(count):
        *software, _ = SOFTWARE[number % len(SOFTWARE)]
        yield make_client(
            rng,
            application=f"partner-{number}",
            owner=f"partner-{number}",
            client_id=f"partner-{number}",
            protocol="SASL_SSL",
            host="10.50.0.7",
            software=software,
            role="producer",
            weight=1,
            ports=(number, count),
        )


def clients_with_odd_ids(rng: random.Random) -> Iterator[Client]:
    for number, client_id in enumerate((*ODD_CLIENT_IDS, "x" * 300, "", None)):
        yield make_client(
            rng,
            application=f"odd-{number}",
            owner="odd",
            client_id=client_id,
            protocol="SSL",
            host=f"10.60.0.{number + 10}",
            software=KAFKA_PYTHON,
            role="producer",
            weight=1,
        )


def broker_clients(brokers: int) -> Iterator[Client]:
    """Replica fetchers of up to three other brokers, the controller, and forwarded requests."""
    roles = [REPLICA] * min(3, brokers - 1) + [CONTROLLER, FORWARDED]
    for number, role in enumerate(roles):
        yield Client(
            application="kafka",
            owner="kafka",
            client_id=None,
            principal="User:CN=kafka-broker" if role != FORWARDED else "User:svc-billing",
            protocol="SSL",
            listener="REPLICATION" if role == REPLICA else "CONTROLLER",
            host=str(number + 1),
            library="",
            library_version="",
            software_reported=None,
            role=role,
            weight=90 if role == REPLICA else 12,
            connection_requests=1_000_000_000,
            group="",
            member="",
        )


def kafka_uuid(rng: random.Random) -> str:
    """A UUID as Kafka prints it: 22 characters of base64."""
    return base64.urlsafe_b64encode(rng.randbytes(16)).decode().rstrip("=")


def _uuid(rng: random.Random) -> str:
    return str(uuid.UUID(bytes=rng.randbytes(16), version=4))


def _host(rng: random.Random, application: int, instance: int) -> str:
    if rng.random() < 0.04:
        return f"fd00:0:0:0:0:20:{application:x}:{instance + 10:x}"
    return f"10.{20 + application // 250}.{application % 250}.{instance + 10}"
