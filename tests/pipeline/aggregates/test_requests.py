"""Request lines to table rows: sums, rejects without secrets, line counts."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession

from rollcall.pipeline.aggregates import requests
from rollcall.pipeline.errors import PipelineError
from rollcall.pipeline.jobs.batch import check_lines
from rollcall.pipeline.parsing import LINES, SUMS, SourceSettings
from rollcall.tables.columns import BROKERS, CONNECTIONS, USAGE, Table
from tests.pipeline.parsing.hostile_lines import START, json_line, text_line

Summed = Callable[..., DataFrame]
SECRET = "sasl.jaas.config=hunter2"


@pytest.fixture(scope="module")
def summed(spark: SparkSession) -> Summed:
    def summed(*lines: str, file: str = "log") -> DataFrame:
        rows = [(line, file, 0, position, "blue", None) for position, line in enumerate(lines)]
        made = requests.sum_lines(spark.createDataFrame(rows, LINES), SourceSettings())
        assert made.schema.simpleString() == SUMS.simpleString()
        return made

    return summed


def types_of(frame: DataFrame) -> dict[str, str]:
    return {field.name: field.dataType.simpleString() for field in frame.schema}


@pytest.mark.parametrize(
    ("count", "table"),
    [
        (requests.count_usage, USAGE),
        (requests.count_connections, CONNECTIONS),
        (requests.observed_brokers, BROKERS),
    ],
)
def test_rows_have_the_columns_and_types_of_their_table(
    summed: Summed, count: Callable[[DataFrame], DataFrame], table: Table
) -> None:
    written = {column.name: column.type.lower().replace(": ", ":") for column in table.columns}
    written = {name: kind.replace(", ", ",") for name, kind in written.items()}
    assert types_of(count(summed(json_line()))) == written


def later(line: str, time: str) -> str:
    return line.replace(START, f"[2026-11-02 {time}]")


def test_requests_of_a_client_in_an_hour_are_one_row(summed: Summed) -> None:
    made = summed(
        later(json_line("a"), "10:00:00,000"),
        later(json_line("a"), "10:59:59,999"),
        later(json_line("a"), "11:00:00,000"),
        later(json_line("b"), "10:30:00,000"),
    )
    rows: list[Any] = requests.count_usage(made).orderBy("client_id", "hour").collect()
    assert [(row.client_id, row.hour.hour, row.requests) for row in rows] == [
        ("a", 10, 2), ("a", 11, 1), ("b", 10, 1)
    ]  # fmt: skip
    first = rows[0]
    assert (first.first_seen, first.last_seen) == (
        datetime(2026, 11, 2, 10),  # noqa: DTZ001
        datetime(2026, 11, 2, 10, 59, 59, 999000),  # noqa: DTZ001
    )
    assert (first.total_us, first.longest_us, first.throttled, first.throttle_us) == (
        2500, 1250, 2, 24000
    )  # fmt: skip
    assert (first.hours, first.forms, first.errors, first.answered) == (1 << 10, 1 << 7, 0, 0)


def test_times_of_forwarded_requests_are_not_counted(summed: Summed) -> None:
    forwarded = json_line().replace('"isForwarded":false', '"isForwarded":true')
    (row,) = requests.count_usage(summed(forwarded)).collect()
    assert (row["forwarded"], row["requests"], row["total_us"], row["throttled"]) == (True, 1, 0, 0)


def test_top_level_error_codes_are_counted(summed: Summed) -> None:
    responses = ['{"errorCode":0}', '{"errorCode":35}', '{"throttleTimeMs":0,"errorCode":3}', '""']
    given = [
        line.replace('"requestApiKey":3', '"requestApiKey":10')
        for line in (with_response(json_line(), response) for response in responses)
    ]
    (row,) = requests.count_usage(summed(*given)).collect()
    assert (row["requests"], row["answered"], row["errors"], row["unsupported"]) == (4, 3, 2, 1)


def with_response(line: str, response: str) -> str:
    before, _, rest = line.partition('"response":')
    after = rest.partition(',"connection":')[2]
    return f'{before}"response":{response},"connection":{after}'


def test_forged_request_time_does_not_distort_a_sum(summed: Summed) -> None:
    good = text_line("G")
    forged = good.replace("totalTime:0.0", "totalTime:99999999999999999999999")
    (row,) = requests.count_usage(summed(good, forged, forged)).collect()
    assert (row["requests"], row["total_us"]) == (3, 0)


def rejects_of(made: DataFrame) -> list[Row]:
    return requests.select_rejects(made).orderBy("position").collect()


def test_reject_does_not_show_a_body(summed: Summed) -> None:
    body = f"{{resources=[{{config_entries=[{{config_name=x,config_value={SECRET}"
    good = text_line("F", body=body + "}]}]}")
    split = good.index("hunter2")
    begun = json_line(topic=SECRET)
    lines = [good[:split], good[split:], SECRET, begun[:-30], good.replace(";totalTime", ";t")]
    rows = rejects_of(summed(*lines))
    assert [row["position"] for row in rows] == [0, 1, 2, 3, 4]
    assert [row["length"] for row in rows] == [len(line) for line in lines]
    assert not [row for row in rows if "hunter2" in row["piece"] or "jaas" in row["piece"]]
    assert rows[0]["piece"].startswith(f"{START} DEBUG Completed request:RequestHeader(apiKey=")
    assert rows[2]["piece"] == "xxxx.xxxx.xxxxxx=xxxxxx0"


def test_lines_equal_requests_plus_skipped_plus_rejects(summed: Summed) -> None:
    made = summed(json_line(), json_line("é"), text_line("G"), "", "x (a.b)", "nonsense")
    (row,) = requests.count_files(made).collect()
    assert (row["lines"], row["requests"], row["skipped"], row["rejected"]) == (6, 3, 2, 1)
    lines = [json_line(), json_line("é"), text_line("G"), "", "x (a.b)", "nonsense"]
    assert row["bytes_read"] == sum(len(line.encode()) + 1 for line in lines)
    assert (row["levels"], row["forms"]) == (1 << 1, 1 << 6 | 1 << 7)
    check_lines([row.asDict()])


def test_lost_line_is_an_error() -> None:
    row = {"file": "log", "lines": 3, "requests": 1, "skipped": 1, "rejected": 0}
    with pytest.raises(PipelineError, match="3 lines, but 1 requests, 1 skipped and 0 rejected"):
        check_lines([row])
    check_lines([row | {"rejected": 1}])
