import random

from rollcall.server.gauge import OTHER, SoftwareGauge, SoftwareLabel


def test_511_6_at_0_a_series_disappears() -> None:
    gauge = SoftwareGauge(10)
    labels = [gauge.enter("a", "1", "L"), gauge.enter("a", "1", "L"), gauge.enter("a", "1", "M")]
    assert dict(gauge.counts) == {("a", "1", "L"): 2, ("a", "1", "M"): 1}
    for label in labels[:2]:
        gauge.leave(label)
    assert dict(gauge.counts) == {("a", "1", "M"): 1}


def test_511_7_beyond_the_cap_names_are_other_and_a_name_that_leaves_makes_room() -> None:
    gauge = SoftwareGauge(2)
    first = gauge.enter("a", "1", "L")
    gauge.enter("a", "2", "L")
    third = gauge.enter("a", "3", "L")
    assert third == (OTHER, OTHER, "L")
    assert gauge.enter("a", "1", "M") == ("a", "1", "M"), "a known name is counted everywhere"
    assert gauge.enter("unknown", "unknown", "L").name == "unknown", "the nameless need no room"
    gauge.leave(first)
    gauge.leave(SoftwareLabel("a", "1", "M"))
    assert gauge.enter("a", "3", "L") == ("a", "3", "L")
    assert gauge.counts[third] == 1, "who was counted as other leaves as other"


def test_511_7_the_total_adds_up_whatever_happens() -> None:
    chance = random.Random(511)
    gauge = SoftwareGauge(5)
    inside = []
    for _ in range(5000):
        if inside and chance.random() < 0.5:
            gauge.leave(inside.pop(chance.randrange(len(inside))))
        else:
            name = chance.choice(["unknown", "other", *(f"n{i}" for i in range(20))])
            version = name if name in ("unknown", "other") else "1"
            inside.append(gauge.enter(name, version, chance.choice("LM")))
        assert sum(gauge.counts.values()) == len(inside)
        named = {(label.name, label.version) for label in gauge.counts}
        assert len(named - {("unknown", "unknown"), ("other", "other")}) <= 5
    for label in inside:
        gauge.leave(label)
    assert not gauge.counts
    assert not gauge._series
