import random

from rollcall.server.gauge import OTHER, SoftwareGauge, SoftwareLabel


def test_511_6_series_without_connections_is_removed() -> None:
    gauge = SoftwareGauge(10)
    labels = [gauge.add("a", "1", "L"), gauge.add("a", "1", "L"), gauge.add("a", "1", "M")]
    assert dict(gauge.counts) == {("a", "1", "L"): 2, ("a", "1", "M"): 1}
    for label in labels[:2]:
        gauge.remove(label)
    assert dict(gauge.counts) == {("a", "1", "M"): 1}


def test_511_7_names_beyond_the_limit_count_as_other_until_another_name_is_removed() -> None:
    gauge = SoftwareGauge(2)
    first = gauge.add("a", "1", "L")
    gauge.add("a", "2", "L")
    third = gauge.add("a", "3", "L")
    assert third == (OTHER, OTHER, "L")
    assert gauge.add("a", "1", "M") == ("a", "1", "M"), "a known name counts on every listener"
    assert gauge.add("unknown", "unknown", "L").name == "unknown", "unknown is not limited"
    gauge.remove(first)
    gauge.remove(SoftwareLabel("a", "1", "M"))
    assert gauge.add("a", "3", "L") == ("a", "3", "L")
    assert gauge.counts[third] == 1, "a connection counted as other is removed as other"


def test_511_7_total_is_the_number_of_connections_after_any_sequence() -> None:
    rng = random.Random(511)
    gauge = SoftwareGauge(5)
    labels = []
    for _ in range(5000):
        if labels and rng.random() < 0.5:
            gauge.remove(labels.pop(rng.randrange(len(labels))))
        else:
            name = rng.choice(["unknown", "other", *(f"n{i}" for i in range(20))])
            version = name if name in ("unknown", "other") else "1"
            labels.append(gauge.add(name, version, rng.choice("LM")))
        assert sum(gauge.counts.values()) == len(labels)
        named = {(label.name, label.version) for label in gauge.counts}
        assert len(named - {("unknown", "unknown"), ("other", "other")}) <= 5
    for label in labels:
        gauge.remove(label)
    assert not gauge.counts
    assert not gauge._series
