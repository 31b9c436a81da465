"""Every rule of the impact report end to end, each with the case that it comes from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rollcall.catalog import UnknownReleaseError
from rollcall.reports import (
    ClientImpact,
    CoverageLimit,
    Impact,
    Reason,
    RemedyKind,
    Verdict,
    impact,
)
from rollcall.reports.impact.broker_limits import BrokerMaximum, MaximumProvenance
from rollcall.reports.query.filters import Filters
from tests.reports.table_builder import DAYS, TableBuilder

JAVA = "apache-kafka-java 3.9.0"


def judged(directory: Path, builder: TableBuilder, target: str = "4.0.0", **more: object) -> Impact:
    return impact(builder.write(directory / "tables"), target, **more)  # type: ignore[arg-type]


def only(report: Impact) -> ClientImpact:
    (client,) = report.clients
    return client


def verdict(report: Impact) -> tuple[Verdict, Reason | None]:
    client = only(report)
    return client.verdict, client.judgement.deciding.reason if client.judgement.deciding else None


def steps(client: ClientImpact) -> list[RemedyKind]:
    return [remedy.kind for remedy in client.remedies]


@pytest.mark.parametrize(
    ("api", "version", "target", "expected"),
    [
        # U01: 3.7.0 to 3.9.0 mark these deprecated, and 4.x keeps them
        ("JoinGroup", 1, "4.1.0", Verdict.SAFE),
        ("Metadata", 0, "4.0.0", Verdict.SAFE),
        ("FindCoordinator", 0, "4.0.0", Verdict.SAFE),
        ("Produce", 3, "4.0.0", Verdict.SAFE),
        ("SaslHandshake", 0, "4.0.0", Verdict.UNKNOWN),
        # U02: refused by 4.0.0, back in 4.0.1
        ("JoinGroup", 0, "4.0.0", Verdict.BREAKS),
        ("JoinGroup", 1, "4.0.0", Verdict.BREAKS),
        ("JoinGroup", 0, "4.0.1", Verdict.SAFE),
        ("JoinGroup", 1, "4.0.1", Verdict.SAFE),
        ("JoinGroup", 2, "4.0.0", Verdict.SAFE),
        # U03: listed from 0 by every 4.x, refused below 3
        ("Produce", 0, "4.0.1", Verdict.BREAKS),
        ("Produce", 2, "4.1.0", Verdict.BREAKS),
        # below the minimum, in each API where it rose
        ("Fetch", 3, "4.0.0", Verdict.BREAKS),
        ("Fetch", 4, "4.0.0", Verdict.SAFE),
        ("ListOffsets", 0, "4.0.0", Verdict.BREAKS),
        ("OffsetCommit", 1, "4.0.1", Verdict.BREAKS),
        ("OffsetFetch", 0, "4.0.0", Verdict.BREAKS),
        ("CreateTopics", 1, "4.0.0", Verdict.BREAKS),
        ("OffsetForLeaderEpoch", 1, "4.0.0", Verdict.BREAKS),
        ("DescribeConfigs", 0, "4.0.0", Verdict.BREAKS),
        # 3.x refuses none of these
        ("Fetch", 0, "3.9.1", Verdict.SAFE),
        ("Produce", 0, "3.9.1", Verdict.SAFE),
        # brokers with ZooKeeper keep what KRaft did not have yet
        ("CreateDelegationToken", 2, "3.5.2", Verdict.SAFE),
        ("DescribeUserScramCredentials", 0, "3.4.0", Verdict.SAFE),
    ],
)
def test_a_used_version_is_judged_by_what_the_patch_release_accepts(
    tmp_path: Path, api: str, version: int, target: str, expected: Verdict
) -> None:
    builder = TableBuilder().broker_reports("3.9.0").use(api, version)
    assert only(judged(tmp_path, builder, target)).verdict is expected


def test_a_removed_api_is_refused(tmp_path: Path) -> None:
    builder = TableBuilder().broker_reports("3.9.0").use("ControlledShutdown", 3)
    assert verdict(judged(tmp_path, builder)) == (Verdict.BREAKS, Reason.REFUSED)


def test_one_refused_version_counts_next_to_accepted_ones(tmp_path: Path) -> None:
    builder = TableBuilder().broker_reports("3.9.0").use("Fetch", 11).use("Fetch", 3)
    found = only(judged(tmp_path, builder))
    assert found.verdict is Verdict.BREAKS
    assert found.judgement.deciding is not None
    assert found.judgement.deciding.versions == (3, 3)


def test_the_worst_api_decides_the_verdict(tmp_path: Path) -> None:
    builder = (
        TableBuilder()
        .broker_reports("3.9.0")
        .use("Fetch", 99)
        .use("OffsetCommit", 1)
        .use("Produce", 9)
    )
    assert verdict(judged(tmp_path, builder)) == (Verdict.BREAKS, Reason.REFUSED)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (lambda builder: builder.use("ApiVersions", 0), (Verdict.SAFE, Reason.ABOVE_MAXIMUM)),
        (lambda builder: builder, (Verdict.UNKNOWN, Reason.ABOVE_MAXIMUM_NOT_NEGOTIATED)),
    ],
    ids=["ApiVersions sent", "ApiVersions not observed"],
)
def test_a_version_above_the_maximum_is_safe_for_a_client_that_negotiates(
    tmp_path: Path, more: object, expected: object
) -> None:
    builder = TableBuilder().broker_reports("4.3.0").use("Fetch", 18)
    more(builder)  # type: ignore[operator]
    assert verdict(judged(tmp_path, builder, "4.0.0")) == expected


def test_a_client_that_reports_its_name_negotiates(tmp_path: Path) -> None:
    builder = TableBuilder().broker_reports("4.3.0").use("Fetch", 18, "kgo v1.22.2")
    assert verdict(judged(tmp_path, builder, "4.0.0")) == (Verdict.SAFE, Reason.ABOVE_MAXIMUM)


def test_an_api_that_the_target_does_not_have_yet_is_unknown(tmp_path: Path) -> None:
    builder = (
        TableBuilder()
        .broker_reports("4.3.0")
        .use("ApiVersions", 3)
        .use("ConsumerGroupHeartbeat", 0)
    )
    assert verdict(judged(tmp_path, builder, "3.6.0")) == (
        Verdict.UNKNOWN,
        Reason.API_NOT_AVAILABLE,
    )


def test_an_unknown_api_versions_version_is_uninformative(tmp_path: Path) -> None:
    builder = TableBuilder().broker_reports("3.9.0").use("ApiVersions", 9)
    assert verdict(judged(tmp_path / "alone", builder)) == (Verdict.UNKNOWN, Reason.NO_EVIDENCE)
    assert only(judged(tmp_path / "with fetch", builder.use("Fetch", 11))).verdict is Verdict.SAFE


def test_sasl_version_0_is_uninformative(tmp_path: Path) -> None:
    builder = (
        TableBuilder().broker_reports("3.9.0").use("SaslHandshake", 0).use("SaslAuthenticate", 0)
    )
    assert verdict(judged(tmp_path, builder)) == (Verdict.UNKNOWN, Reason.NO_EVIDENCE)


# Refused versions and the broker maximum


@pytest.mark.parametrize(
    ("release", "api", "version", "expected", "provenance"),
    [
        # below the broker maximum: the maximum of the client, or a pin
        ("1.0", "Fetch", 3, (Verdict.BREAKS, Reason.REFUSED), MaximumProvenance.LOG),
        # at the broker maximum: the client may support higher versions
        (
            "0.10.1",
            "Fetch",
            3,
            (Verdict.UNKNOWN, Reason.REFUSED_AT_BROKER_MAXIMUM),
            MaximumProvenance.LOG,
        ),
        (
            "0.10.0",
            "ListOffsets",
            0,
            (Verdict.UNKNOWN, Reason.REFUSED_AT_BROKER_MAXIMUM),
            MaximumProvenance.LOG,
        ),
    ],
)
def test_a_refused_version_is_compared_with_the_reported_maximum(
    tmp_path: Path,
    release: str,
    api: str,
    version: int,
    expected: object,
    provenance: MaximumProvenance,
) -> None:
    builder = TableBuilder().broker_reports(release).use(api, version, form="C")
    report = judged(tmp_path, builder)
    assert verdict(report) == expected
    deciding = only(report).judgement.deciding
    assert deciding is not None
    assert deciding.broker_maximum is not None
    assert deciding.broker_maximum.provenance is provenance


def test_the_broker_maximum_is_that_of_the_hour(tmp_path: Path) -> None:
    builder = TableBuilder().broker_reports("0.10.1", day=0).broker_reports("1.0", day=10)
    before = builder.use("Fetch", 3, days=range(9), form="C")
    assert verdict(judged(tmp_path / "a", before))[0] is Verdict.UNKNOWN
    after = before.use("Fetch", 3, days=range(11, 13), form="F")
    assert verdict(judged(tmp_path / "b", after))[0] is Verdict.BREAKS


def test_the_lower_of_two_maximums_reported_in_one_hour_counts(tmp_path: Path) -> None:
    builder = (
        TableBuilder()
        .broker_reports("0.10.1")
        .broker_reports("1.0")
        .use("Fetch", 3, days=[0], form="C")
    )
    assert verdict(judged(tmp_path, builder)) == (Verdict.UNKNOWN, Reason.REFUSED_AT_BROKER_MAXIMUM)


def test_a_roll_call_gives_the_maximum_if_the_log_does_not(tmp_path: Path) -> None:
    builder = TableBuilder().roll_call(0, release="0.10.1").use("Fetch", 3, form="C")
    deciding = only(judged(tmp_path, builder)).judgement.deciding
    assert deciding is not None
    assert deciding.reason is Reason.REFUSED_AT_BROKER_MAXIMUM
    assert deciding.broker_maximum is not None
    assert deciding.broker_maximum.provenance is MaximumProvenance.ROLL_CALL


def test_a_roll_call_matches_logs_without_cluster_name(tmp_path: Path) -> None:
    builder = TableBuilder().roll_call(0, release="0.10.1", cluster="kX3-id")
    builder.use("Fetch", 3, form="C", cluster=None)
    deciding = only(judged(tmp_path, builder)).judgement.deciding
    assert deciding is not None
    assert deciding.broker_maximum == BrokerMaximum(3, MaximumProvenance.ROLL_CALL, is_reached=True)


def test_the_configured_release_gives_the_maximum_if_nothing_reports_it(tmp_path: Path) -> None:
    builder = TableBuilder().use("Fetch", 3, form="C")
    report = judged(tmp_path, builder, broker_release="0.10.1.1")
    assert verdict(report) == (Verdict.UNKNOWN, Reason.REFUSED_AT_BROKER_MAXIMUM)
    assert report.running == ("0.10.1.1",)


@pytest.mark.parametrize(
    ("form", "others", "expected"),
    [
        # the oldest release that writes form C is 0.9, which has Fetch up to 1
        ("C", [], Verdict.UNKNOWN),
        # another client used a higher version on this broker
        ("C", [5], Verdict.BREAKS),
        # form H is written by 2.8 and later, which have higher versions
        ("H", [], Verdict.BREAKS),
    ],
)
def test_the_maximum_has_a_floor_if_nothing_reports_or_configures_it(
    tmp_path: Path, form: str, others: list[int], expected: Verdict
) -> None:
    builder = TableBuilder().use("Fetch", 3, form=form)
    for version in others:
        builder.use("Fetch", version, form=form, principal="User:other")
    (found,) = (
        client
        for client in judged(tmp_path, builder).clients
        if client.judgement.client.principal == "User:app"
    )
    assert found.verdict is expected


def test_a_library_version_that_supports_accepted_versions_is_safe(tmp_path: Path) -> None:
    builder = TableBuilder().broker_reports("3.9.0").use("OffsetForLeaderEpoch", 1, JAVA)
    assert verdict(judged(tmp_path, builder)) == (Verdict.SAFE, Reason.LIBRARY_SUPPORTS_ACCEPTED)


def test_a_java_client_without_accepted_versions_breaks(tmp_path: Path) -> None:
    builder = (
        TableBuilder()
        .broker_reports("3.9.0")
        .use("Fetch", 3, client_id="consumer-1", days=range(DAYS))
    )
    assert verdict(judged(tmp_path, builder)) == (Verdict.BREAKS, Reason.REFUSED)


@pytest.mark.parametrize(
    ("software", "setting"),
    [("sarama v1.61.1", "Config.Version"), ("kafka-python 3.0.12", "api_version")],
)
def test_u04_a_new_library_breaks_if_a_setting_can_pin_it(
    tmp_path: Path, software: str, setting: str
) -> None:
    found = only(judged(tmp_path, TableBuilder().broker_reports("3.9.0").use("Fetch", 3, software)))
    assert found.verdict is Verdict.BREAKS
    assert steps(found) == [RemedyKind.UNPIN]
    assert found.remedies[0].setting == setting


# At risk


def test_u07_old_librdkafka_with_kerberos_needs_join_group_0_listed(tmp_path: Path) -> None:
    builder = (
        TableBuilder()
        .broker_reports("3.9.0")
        .use("JoinGroup", 5, "librdkafka 2.4.0", listener="SASL_PLAINTEXT")
    )
    found = only(judged(tmp_path / "a", builder, "4.0.0"))
    assert (found.verdict, found.judgement.findings[0].reason) == (
        Verdict.AT_RISK,
        Reason.NEEDED_BY_LIBRARY,
    )
    assert [str(r.version) for r in found.remedies if r.kind is RemedyKind.UPGRADE] == ["2.11.0"]
    assert found.remedies[-1].kind is RemedyKind.OTHER_TARGET
    assert only(judged(tmp_path / "b", builder, "4.0.1")).verdict is Verdict.SAFE
    newer = (
        TableBuilder()
        .broker_reports("3.9.0")
        .use("JoinGroup", 5, "librdkafka 2.11.0", listener="SASL_SSL")
    )
    assert only(judged(tmp_path / "c", newer, "4.0.0")).verdict is Verdict.SAFE


def test_u07_a_kerberos_risk_is_excluded_on_a_listener_without_sasl(tmp_path: Path) -> None:
    builder = (
        TableBuilder()
        .broker_reports("3.9.0")
        .use("JoinGroup", 5, "librdkafka 2.4.0", listener="PLAINTEXT")
    )
    assert only(judged(tmp_path, builder, "4.0.0")).verdict is Verdict.SAFE


@pytest.mark.parametrize(
    ("software", "target", "expected"),
    [
        # U08: known bugs of libraries in addition to the ranges
        ("librdkafka 1.7.0", "4.0.1", Verdict.AT_RISK),
        ("librdkafka 1.8.0", "4.0.1", Verdict.SAFE),
        ("confluent-kafka-python 1.7.0-rdkafka-1.7.0", "4.0.1", Verdict.AT_RISK),
        ("sarama v1.40.0", "4.1.0", Verdict.AT_RISK),
        ("sarama v1.41.0", "4.1.0", Verdict.SAFE),
        ("librdkafka 1.7.0", "3.9.1", Verdict.SAFE),
        # K05: this is the version of the application, that of the library is unknown
        ("ClickHouse v1.0.1.1-stable", "4.0.1", Verdict.SAFE),
    ],
)
def test_u08_a_library_that_needs_a_refused_version_is_at_risk(
    tmp_path: Path, software: str, target: str, expected: Verdict
) -> None:
    builder = TableBuilder().broker_reports("3.9.0").use("Fetch", 11, software)
    assert only(judged(tmp_path, builder, target)).verdict is expected


@pytest.mark.parametrize(
    ("release", "api_versions", "expected"),
    [
        ("3.9.0", 0, Verdict.AT_RISK),  # from 1.4 on it would have reported its name
        ("3.9.0", None, Verdict.SAFE),  # pinned by a setting, any version sends no ApiVersions
        ("2.3.1", 0, Verdict.SAFE),  # this broker does not log names
        ("3.9.0", 3, Verdict.SAFE),
    ],
)
def test_k07_a_client_that_negotiates_without_name_is_older_than_versions_with_name(
    tmp_path: Path, release: str, api_versions: int | None, expected: Verdict
) -> None:
    builder = TableBuilder().broker_reports(release).use("Fetch", 11, client_id="rdkafka")
    if api_versions is not None:
        builder.use("ApiVersions", api_versions, client_id="rdkafka")
    found = only(judged(tmp_path, builder, "4.0.1"))
    assert found.judgement.client.library == "librdkafka"
    assert found.verdict is expected


def test_an_operation_that_was_not_observed_is_at_risk_for_a_producer_as_well(
    tmp_path: Path,
) -> None:
    builder = TableBuilder().broker_reports("3.9.0").use("Produce", 7, "librdkafka 1.7.0")
    found = only(judged(tmp_path, builder, "4.0.1"))
    assert (found.verdict, found.judgement.findings[0].api_key) == (Verdict.AT_RISK, 2)


def test_an_observed_api_outranks_a_documented_risk(tmp_path: Path) -> None:
    builder = TableBuilder().broker_reports("3.9.0").use("Fetch", 11, "librdkafka 1.7.0")
    builder.use("ListOffsets", 1, "librdkafka 1.7.0")
    found = only(judged(tmp_path, builder, "4.0.1"))
    assert found.verdict is Verdict.SAFE
    (compatibility,) = found.judgement.compatibilities.values()
    assert compatibility.below_minimum  # which stays as a note


# Superseded versions


def test_a_refused_version_is_superseded_after_7_later_days_on_the_same_host(
    tmp_path: Path,
) -> None:
    builder = (
        TableBuilder()
        .broker_reports("3.9.0")
        .use("Fetch", 3, days=range(3))
        .use("Fetch", 11, days=range(3, 10))
    )
    found = only(judged(tmp_path, builder))
    assert (found.verdict, found.judgement.superseded[0].versions) == (Verdict.SAFE, (3, 3))


@pytest.mark.parametrize(
    "later",
    [
        {"days": range(3, 9)},  # six days
        {"days": range(3, 14), "host": "10.0.0.2"},  # another host
        {"days": range(3), "of_day": 5},  # not later
    ],
)
def test_a_refused_version_is_not_superseded_on_fewer_days_or_other_hosts(
    tmp_path: Path, later: dict[str, object]
) -> None:
    builder = TableBuilder().broker_reports("3.9.0").use("Fetch", 3, days=range(3))
    builder.use("Fetch", 11, **later)  # type: ignore[arg-type]
    assert only(judged(tmp_path, builder)).verdict is Verdict.BREAKS


def test_newer_software_on_another_host_supersedes_a_refused_version(tmp_path: Path) -> None:
    builder = (
        TableBuilder()
        .broker_reports("3.9.0")
        .use("OffsetCommit", 1, "sarama v1.30.0", days=range(3))
    )
    newer = builder.use("OffsetCommit", 8, "sarama v1.61.1", days=range(3, 10), host="10.0.0.9")
    found = only(judged(tmp_path, newer))
    assert found.judgement.superseded
    older = (
        TableBuilder()
        .broker_reports("3.9.0")
        .use("OffsetCommit", 1, "sarama v1.30.0", days=range(3))
    )
    older.use("OffsetCommit", 8, "sarama v1.29.0", days=range(3, 10), host="10.0.0.9")
    assert only(judged(tmp_path / "older", older)).verdict is Verdict.BREAKS


def test_a_library_at_risk_is_superseded_if_other_software_replaced_it(
    tmp_path: Path,
) -> None:
    builder = (
        TableBuilder().broker_reports("3.9.0").use("Fetch", 11, "librdkafka 1.7.0", days=range(3))
    )
    builder.use("Fetch", 16, "librdkafka 2.11.1", days=range(3, 10), host="10.0.0.2")
    found = only(judged(tmp_path, builder))
    assert found.verdict is Verdict.SAFE
    (finding,) = found.judgement.superseded
    assert (finding.software_versions, finding.risk is not None) == (("1.7.0",), True)


@pytest.mark.parametrize(
    "later",
    [
        {"software": "librdkafka 2.11.1", "days": range(3, 9)},  # six days
        {"software": "librdkafka 2.11.1", "days": range(3)},  # not later
        {"software": "librdkafka 1.7.1", "days": range(3, 14)},  # has the same risk
        {"software": "apache-kafka-java 3.9.0", "days": range(3, 14), "host": "10.0.0.2"},
    ],
)
def test_a_library_stays_at_risk_on_fewer_days_or_with_software_of_the_same_need(
    tmp_path: Path, later: dict[str, Any]
) -> None:
    builder = (
        TableBuilder().broker_reports("3.9.0").use("Fetch", 11, "librdkafka 1.7.0", days=range(3))
    )
    report = judged(tmp_path, builder.use("Fetch", 11, **later))
    assert report.counts[Verdict.AT_RISK] == 1


def test_an_upgrade_that_brought_a_name_is_the_same_client(tmp_path: Path) -> None:
    builder = TableBuilder().broker_reports("3.9.0").use("Fetch", 3, days=range(3))
    builder.use("Fetch", 17, JAVA, days=range(5, 14))
    assert {client.verdict for client in judged(tmp_path, builder).clients} == {Verdict.SAFE}


@pytest.mark.parametrize(
    "filters", [Filters(software="sarama"), Filters(client_id="app-1")], ids=["software", "id"]
)
def test_filters_do_not_change_a_verdict(tmp_path: Path, filters: Filters) -> None:
    builder = (
        TableBuilder()
        .broker_reports("3.9.0")
        .use("Fetch", 3, "sarama v1.61.0", client_id="app-1", days=range(3))
    )
    builder.use("Fetch", 11, "kgo v1.20.0", client_id="app-2", days=range(3, 14))
    directory = builder.write(tmp_path / "tables")
    old = next(
        client
        for client in impact(directory, "4.0.0").clients
        if client.judgement.client.software != "kgo"
    )
    assert old.judgement.superseded
    assert only(impact(directory, "4.0.0", filters=filters)).judgement == old.judgement


def test_a_client_breaks_if_one_of_two_hosts_still_uses_a_refused_version(tmp_path: Path) -> None:
    builder = (
        TableBuilder()
        .broker_reports("3.9.0")
        .use("Fetch", 3, days=range(3))
        .use("Fetch", 11, days=range(3, 14))
    )
    builder.use("Fetch", 3, host="10.0.0.2")
    found = only(judged(tmp_path, builder))
    assert found.verdict is Verdict.BREAKS
    assert found.judgement.deciding is not None
    assert found.judgement.deciding.hosts == ("10.0.0.2",)


# Traffic that is not from clients, and proxies


def test_u09_replica_and_forwarded_requests_are_not_clients(tmp_path: Path) -> None:
    builder = (
        TableBuilder()
        .broker_reports("3.9.0")
        .use("Fetch", 3, replica=True)
        .use("CreateTopics", 0, forwarded=True)
    )
    report = judged(tmp_path, builder.use("Fetch", 17))
    assert only(report).verdict is Verdict.SAFE
    assert report.coverage.replica_requests == report.coverage.forwarded_requests == 10 * DAYS
    assert report.coverage.client_requests == 10 * DAYS


@pytest.mark.parametrize("many", ["principal", "software_name"])
def test_u10_a_host_with_many_clients_is_a_suspected_proxy_and_the_first_remedy(
    tmp_path: Path, many: str
) -> None:
    builder = TableBuilder().broker_reports("3.9.0")
    for number in range(21):
        builder.use("Fetch", 3, days=[0], **{many: f"name-{number}"})
    report = judged(tmp_path, builder)
    assert report.proxies == ("10.0.0.1",)
    first = report.clients[0].remedies[0]
    assert (first.kind, first.host, first.suspected) == (
        RemedyKind.LOOK_BEHIND_PROXY,
        "10.0.0.1",
        True,
    )


def test_u10_a_filter_does_not_hide_a_suspected_proxy(tmp_path: Path) -> None:
    builder = TableBuilder().broker_reports("3.9.0")
    for number in range(21):
        builder.use("Fetch", 3, days=[0], principal=f"User:{number}")
    report = judged(tmp_path, builder, filters=Filters(principal="User:7"))
    assert only(report).remedies[0].kind is RemedyKind.LOOK_BEHIND_PROXY


def test_u10_a_given_proxy_is_not_suspected(tmp_path: Path) -> None:
    report = judged(
        tmp_path, TableBuilder().broker_reports("3.9.0").use("Fetch", 3), proxies=["10.0.0.1"]
    )
    assert not only(report).remedies[0].suspected


# Remedies


@pytest.mark.parametrize(
    ("software", "api", "version", "expected"),
    [
        ("librdkafka 1.5.0", "ListOffsets", 0, "1.8.2"),
        ("sarama v1.30.1", "OffsetCommit", 1, "1.41.0"),
        ("confluent-kafka-python 1.5.0-rdkafka-1.5.0", "ListOffsets", 0, "1.8.2"),
    ],
)
def test_the_remedy_names_the_version_to_upgrade_to(
    tmp_path: Path, software: str, api: str, version: int, expected: str
) -> None:
    found = only(
        judged(
            tmp_path, TableBuilder().broker_reports("3.9.0").use(api, version, software), "4.1.0"
        )
    )
    upgrade = found.remedies[0]
    assert (upgrade.kind, str(upgrade.version)) == (RemedyKind.UPGRADE, expected)


@pytest.mark.parametrize(
    ("software", "client_id", "api", "version", "expected"),
    [
        (None, "rdkafka", "ListOffsets", 0, [RemedyKind.UPGRADE, RemedyKind.UNPIN]),
        (None, "sarama", "OffsetCommit", 1, [RemedyKind.UPGRADE, RemedyKind.UNPIN]),
        (None, "consumer-1", "Fetch", 3, [RemedyKind.UPGRADE]),
        ("librdkafka unknown", "app", "ListOffsets", 0, [RemedyKind.UPGRADE, RemedyKind.UNPIN]),
        # a client that reports its name is newer than the minimum
        ("kafka-python unknown", "app", "Fetch", 3, [RemedyKind.UNPIN]),
    ],
)
def test_an_unknown_version_may_be_below_the_minimum(
    tmp_path: Path,
    software: str | None,
    client_id: str,
    api: str,
    version: int,
    expected: list[RemedyKind],
) -> None:
    builder = (
        TableBuilder().broker_reports("3.9.0").use(api, version, software, client_id=client_id)
    )
    found = only(judged(tmp_path, builder, "4.1.0"))
    assert steps(found) == expected
    if RemedyKind.UPGRADE in expected:
        assert found.remedies[0].version is not None


@pytest.mark.parametrize(
    ("software", "engine"),
    [
        ("karafka v1.4.0-rdkafka-ruby-v0.10.0-librdkafka-v1.7.0", "librdkafka"),
        ("ClickHouse v21.8", "librdkafka"),
        ("librdkafka 1.7.0", None),
    ],
)
def test_the_version_to_upgrade_to_is_that_of_the_embedded_library(
    tmp_path: Path, software: str, engine: str | None
) -> None:
    found = only(
        judged(
            tmp_path,
            TableBuilder().broker_reports("3.9.0").use("ListOffsets", 0, software),
            "4.1.0",
        )
    )
    assert (found.remedies[0].engine, str(found.remedies[0].version)) == (engine, "1.8.2")


def test_the_same_remedy_for_several_versions_is_listed_once(tmp_path: Path) -> None:
    builder = TableBuilder().broker_reports("3.9.0").use("ListOffsets", 0, "librdkafka 1.7.0")
    found = only(judged(tmp_path, builder.use("ListOffsets", 0, "librdkafka 1.6.1"), "4.1.0"))
    assert steps(found) == [RemedyKind.UPGRADE, RemedyKind.UNPIN]


def test_a_library_without_working_version_is_to_be_replaced(tmp_path: Path) -> None:
    builder = TableBuilder().broker_reports("3.9.0").use("CreateTopics", 0, client_id="ruby-kafka")
    assert RemedyKind.REPLACE in steps(only(judged(tmp_path, builder)))


def test_u02_a_later_patch_that_accepts_the_version_is_a_remedy(tmp_path: Path) -> None:
    found = only(
        judged(tmp_path, TableBuilder().broker_reports("3.9.0").use("JoinGroup", 1), "4.0.0")
    )
    last = found.remedies[-1]
    assert (last.kind, str(last.version)) == (RemedyKind.OTHER_TARGET, "4.0.1")


def test_an_unknown_client_is_to_be_identified(tmp_path: Path) -> None:
    found = only(
        judged(
            tmp_path, TableBuilder().broker_reports("3.9.0").use("Fetch", 3, client_id="mystery")
        )
    )
    assert steps(found) == [RemedyKind.IDENTIFY]


# Coverage and exit code


def test_u05_coverage_has_days_brokers_and_lines(tmp_path: Path) -> None:
    builder = TableBuilder().use("Fetch", 11, days=[0, 20]).roll_call(3, 1).roll_call(3, 2)
    coverage = judged(tmp_path, builder.file(lines=500, rejected=3)).coverage
    assert (coverage.days, len(coverage.observed), coverage.brokers_known) == (2, 1, 2)
    assert coverage.not_observed == ("b2:9092",)
    assert (coverage.observed[0].hours, coverage.lines, coverage.rejected) == (2, 500, 3)
    assert CoverageLimit.REJECTS in coverage.limits


def test_u06_coverage_always_has_the_sasl_limit(tmp_path: Path) -> None:
    assert (
        CoverageLimit.RAW_SASL in judged(tmp_path, TableBuilder().use("Fetch", 11)).coverage.limits
    )


def test_logs_at_info_make_the_inventory_incomplete(tmp_path: Path) -> None:
    builder = TableBuilder().broker_reports("3.9.1").use("JoinGroup", 1, deprecated=10)
    report = judged(tmp_path, builder, "4.0.1")
    assert CoverageLimit.INFO_ONLY in report.coverage.limits
    assert (only(report).verdict, report.exit_code) == (Verdict.SAFE, 3)


def test_a_file_with_nothing_below_info_is_incomplete(tmp_path: Path) -> None:
    builder = TableBuilder().use("Fetch", 11).file(levels=0b100)
    assert CoverageLimit.INFO_ONLY in judged(tmp_path, builder).coverage.limits


def test_logs_in_text_format_have_limits(tmp_path: Path) -> None:
    limits = judged(tmp_path, TableBuilder().use("Fetch", 11, form="F")).coverage.limits
    assert {CoverageLimit.NO_NAMES, CoverageLimit.FORGEABLE, CoverageLimit.NO_ERRORS} <= set(limits)


@pytest.mark.parametrize(
    ("builder", "code"),
    [
        (TableBuilder().broker_reports("3.9.0").use("Fetch", 11), 0),
        (TableBuilder().broker_reports("3.9.0").use("Fetch", 3), 1),
        (TableBuilder().broker_reports("3.9.0").use("Fetch", 11, "librdkafka 1.7.0"), 3),
        (TableBuilder().broker_reports("3.9.0").use("SaslHandshake", 0), 3),
        (TableBuilder().broker_reports("3.9.0").use("Fetch", 11, days=range(6)), 3),
        (TableBuilder().use("Fetch", 11).roll_call(1, 1).roll_call(1, 2), 3),
        (TableBuilder().use("Fetch", 11).roll_call(1, 1), 0),
        (TableBuilder(), 3),
    ],
    ids=[
        "safe",
        "breaks",
        "risk",
        "unknown",
        "6 days",
        "broker without logs",
        "all observed",
        "no logs",
    ],
)
def test_the_exit_code_is_a_gate(tmp_path: Path, builder: TableBuilder, code: int) -> None:
    assert judged(tmp_path, builder).exit_code == code


def test_min_days_can_be_lowered(tmp_path: Path) -> None:
    builder = TableBuilder().broker_reports("3.9.0").use("Fetch", 11, days=range(2))
    assert judged(tmp_path, builder, min_days=2).exit_code == 0


def test_the_running_release_is_inferred_from_reported_ranges(tmp_path: Path) -> None:
    assert judged(tmp_path, TableBuilder().broker_reports("3.9.0").use("Fetch", 11)).running == (
        "3.9",
    )


def test_an_unknown_target_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnknownReleaseError):
        judged(tmp_path, TableBuilder().use("Fetch", 11), "17.0.0")


def test_a_window_of_400_days_still_needs_7_later_days(tmp_path: Path) -> None:
    builder = (
        TableBuilder()
        .broker_reports("3.9.0")
        .use("Fetch", 3, days=[0])
        .use("Fetch", 11, days=range(100, 400))
    )
    assert only(judged(tmp_path / "long", builder)).verdict is Verdict.SAFE
    short = TableBuilder().broker_reports("3.9.0").use("Fetch", 3, days=[0, 393])
    short.use("Fetch", 11, days=range(394, 400))
    assert only(judged(tmp_path / "short", short)).verdict is Verdict.BREAKS


def test_impact_converts_to_an_arrow_table(tmp_path: Path) -> None:
    table = judged(tmp_path, TableBuilder().broker_reports("3.9.0").use("Fetch", 3)).to_arrow()
    assert table.column("verdict").to_pylist() == ["breaks"]
    assert table.column("findings").to_pylist()[0][0]["api"] == "Fetch"


def test_a_later_patch_is_a_remedy_only_if_it_accepts_every_version(tmp_path: Path) -> None:
    some = TableBuilder().broker_reports("3.9.0").use("JoinGroup", 1)
    assert RemedyKind.OTHER_TARGET in steps(only(judged(tmp_path / "some", some)))
    more = (
        TableBuilder().broker_reports("3.9.0").use("JoinGroup", 1).use("Produce", 2)
    )  # every 4.x refuses Produce 2
    assert RemedyKind.OTHER_TARGET not in steps(only(judged(tmp_path / "more", more)))


def test_a_patch_that_is_not_in_the_catalog_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnknownReleaseError, match=r"no release 4\.0\.99") as error:
        judged(tmp_path, TableBuilder().broker_reports("3.9.0").use("JoinGroup", 1), "4.0.99")
    assert "use 4.0, which stands for its newest known patch 4.0." in str(error.value.hint)


def test_the_evidence_of_a_cluster_does_not_depend_on_others(tmp_path: Path) -> None:
    def one() -> TableBuilder:
        return (
            TableBuilder()
            .broker_reports("2.8.2")
            .use("Fetch", 3, "sarama v1.30.0", principal="User:old")
        )

    two = one().use("Fetch", 3, cluster="other", broker="o1:9092", form="C")
    two.use("Fetch", 2, cluster="other", broker="o1:9092", form="C")
    alone, both = (
        impact(builder.write(tmp_path / name), "4.0.0")
        for name, builder in (("alone", one()), ("both", two))
    )
    assert [it for it in both.clients if it.judgement.client.cluster == "prod"] == [*alone.clients]
    (found,) = alone.clients
    assert found.judgement.deciding
    assert found.judgement.deciding.broker_maximum == BrokerMaximum(12, MaximumProvenance.LOG)
