"""The reference reader, tested with sample lines of each form and with real logs."""

from pathlib import Path

import pytest

from tests.pipeline.parsing.reference_reader import RejectedError, Request, read_files, read_line

LOGS = Path(__file__).parents[2] / "data" / "logs"

TIMES = "totalTime:4,requestQueueTime:0,localTime:3,remoteTime:0"
SIX = "totalTime:2,714000,requestQueueTime:0,110000,localTime:2,201000,remoteTime:0,000000"
DOUBLES = "totalTime:0.61,requestQueueTime:0.05,localTime:0.3,remoteTime:0.0"
FROM = "from connection 10.1.0.9:9093-10.1.2.3:51015"
START = "[2026-03-01 11:00:01,123]"
END = "(kafka.request.logger)"
SAMPLES = {
    "A": f"{START} TRACE Completed request:Name: ProducerRequest; Version: 0; CorrelationId: 41; "
    "ClientId: loader; RequiredAcks: 1; AckTimeoutMs: 1500 ms; TopicAndPartition: [orders,0] -> "
    "214 from client /10.1.2.3:51010;totalTime:4,queueTime:0,localTime:3,remoteTime:0,sendTime:1 "
    + END,
    "B": f"{START} DEBUG Completed request:Name: FetchRequest; Version: 0; CorrelationId: 9; "
    "ClientId: loader; ReplicaId: -1; MaxWait: 100 ms; MinBytes: 1 bytes from client "
    f"/10.1.2.3:51011;{TIMES},responseQueueTime:0,sendTime:1 {END}",
    "C": f"{START} DEBUG Completed request:{{api_key=12,api_version=0,correlation_id=88,"
    f"client_id=loader}} -- {{group_id=billing}} {FROM};{TIMES},responseQueueTime:0,sendTime:0,"
    f"securityProtocol:PLAINTEXT,principal:User:CN=loader {END}",
    "D": f"{START} TRACE Completed request:{{api_key=0,api_version=2,correlation_id=5,"
    f"client_id=loader}} -- {{acks=-1}} {FROM};{TIMES},responseQueueTime:0,sendTime:1,"
    f"securityProtocol:SSL,principal:User:CN=loader,OU=x,listener:SSL {END}",
    "E": f"{START} DEBUG Completed request:{{api_key=0,api_version=3,correlation_id=6,"
    f"client_id=loader}} -- {{acks=-1}} {FROM};{SIX},throttleTime:0,083000,"
    "responseQueueTime:0,120000,sendTime:0,200000,securityProtocol:SSL,principal:User:CN=loader,"
    f"listener:SSL {END}",
    "F": f"{START} DEBUG Completed request:RequestHeader(apiKey=PRODUCE, apiVersion=7, "
    f"clientId=loader, correlationId=17) -- {{acks=-1}},response:{{responses=[]}} {FROM}-3;"
    f"{DOUBLES},throttleTime:0.08,responseQueueTime:0.12,sendTime:0.2,securityProtocol:SSL,"
    "principal:User:CN=loader,listener:SSL,temporaryMemoryBytes:128,messageConversionsTime:0.4 "
    + END,
    "G": f"{START} DEBUG Completed request:RequestHeader(apiKey=HEARTBEAT, apiVersion=4, "
    f"clientId=loader, correlationId=88) -- {{group_id=b}},response:{{error_code=0}} {FROM}-4;"
    f"{DOUBLES},throttleTime:0,responseQueueTime:0.06,sendTime:0.2,securityProtocol:PLAINTEXT,"
    "principal:User:ANONYMOUS,listener:PLAINTEXT,clientInformation:ClientInformation("
    f"softwareName=librdkafka, softwareVersion=1.5.2) {END}",
}


@pytest.mark.parametrize("form", SAMPLES)
def test_text_form_is_recognised(form: str) -> None:
    request = read_line(SAMPLES[form])
    assert isinstance(request, Request)
    assert (request.form, request.client_id, request.host) == (form, "loader", "10.1.2.3")


def test_decimal_comma_is_part_of_a_number() -> None:
    request = read_line(SAMPLES["E"])
    assert request is not None
    assert (request.total_us, request.throttle_us) == (2714, 0)


def test_line_of_another_logger_is_skipped_and_truncated_line_rejected() -> None:
    assert read_line(f"{START} TRACE Processor 1 received (kafka.network.RequestChannel$)") is None
    assert read_line("") is None
    with pytest.raises(RejectedError):
        read_line(SAMPLES["G"][:-10])


@pytest.mark.parametrize("log", sorted(LOGS.glob("*.gz")), ids=lambda path: str(path.name)[:-7])
def test_real_logs_are_read_except_for_split_records(log: Path) -> None:
    counts = read_files([log]).files[str(log)]
    assert counts["lines"] == counts["requests"] + counts["skipped"] + counts["rejected"]
    assert counts["requests"] > 5
    assert counts["rejected"] <= 10
