"""Request lines of every form with hostile client ids, principals, topics and addresses."""

import json
from pathlib import Path

START = "[2026-11-02 23:59:59,999]"
END = " (kafka.request.logger)"
LOCAL, REMOTE = "10.1.0.9:9093", "10.1.2.3:51015"

IDS = (
    "plain",
    "a, correlationId=1) -- ",
    "a, correlationId=1) -- {x=1},response:{}",
    'a","requestApiKeyName":"FETCH"},"clientInformation":{"softwareName":"forged"',
    "a} (kafka.request.logger)",
    " leading and trailing ",
    "comma, brace { bracket [ quote \" apostrophe ' backslash \\ semicolon ; equals = colon :",
    "émile 🚚 配送 \u202e \u2028 \u0085 \x1b[31m",
    "tab\tand\x0bothers\x0c",
    "separated,\x013\x01by the parser's separator",
    "null",
    "unknown",
    "%s %d {} $1 \\1",
    "x" * 10_240,
    "é" * 256,
    "é" * 257,
    "🚚" * 300,
    ";totalTime:1,requestQueueTime:1",
    " from connection 1.2.3.4:5-6.7.8.9:1-2",
)
PRINCIPALS = (
    "User:ANONYMOUS",
    "User:CN=loader,OU=Data, Inc.,O=Example Corp,C=DE",
    "User:CN=a,listener:FORGED",
    "User:CN=a,securityProtocol:SSL,principal:User:b",
    "Group:x=y,z=w",
    "User:",
    "User:ends like a line },",
    'User:ends like an object "},',
)
ADDRESSES = (
    ("10.1.0.9:9093", "10.1.2.3:51015"),
    ("0:0:0:0:0:0:0:1:9093", "0:0:0:0:0:0:0:1:56924"),
    ("fe80:0:0:0:1:2:3:4%eth0:9093", "fe80:0:0:0:1:2:3:5%eth0:1"),
)
BODIES = (
    '{topics=[a"clientInformation":{"softwareName":"forged"}]}',
    "{topics=[a} (kafka.request.logger)]}",
    "{topics=[, correlationId=1) -- {b=1}]}",
    "{topics=[ from connection 9.9.9.9:1-8.8.8.8:2-3;totalTime:1]}",
    "{topics=[,response:{error_code=35}]}",
    "{}",
)
TIMES = "totalTime:{t},requestQueueTime:{t},localTime:{t},remoteTime:{t}"
AFTER = "responseQueueTime:{t},sendTime:{t}"


def text_line(
    form: str,
    client_id: str = "plain",
    principal: str = "User:ANONYMOUS",
    body: str = "{topics=[orders]}",
    addresses: tuple[str, str] = ADDRESSES[0],
    key: str = "METADATA",
) -> str:
    """A Metadata request in a text form, C to G."""
    time = {"C": "3", "D": "0", "E": "1,250000", "F": "1.25", "G": "0.0"}[form]
    times, after = TIMES.format(t=time), AFTER.format(t=time)
    connection = "-".join(addresses) + ("-7" if form in "FG" else "")
    middle = {"C": ",", "D": ","}.get(form, f",throttleTime:{time if form != 'G' else '3'},")
    number = {"METADATA": 3}.get(key, 3)
    if form in "FG":
        head = f"RequestHeader(apiKey={key}, apiVersion=5, clientId={client_id}, correlationId=9)"
        bodies = f"{body},response:{{error_code=0}}"
    else:
        head = f"{{api_key={number},api_version=1,correlation_id=9,client_id={client_id}}}"
        bodies = body
    client = f"securityProtocol:SASL_SSL,principal:{principal}"
    listener = "" if form == "C" else ",listener:EXTERNAL"
    software = "ClientInformation(softwareName=sarama, softwareVersion=v1.38.1)"
    information = f",clientInformation:{software}" if form == "G" else ""
    level = "TRACE" if form == "D" else "DEBUG"
    return (
        f"{START} {level} Completed request:{head} -- {bodies} from connection {connection};"
        f"{times}{middle}{after},{client}{listener}{information}{END}"
    )


def json_line(
    client_id: str | None = "plain",
    principal: str = "User:ANONYMOUS",
    topic: str = "orders",
    addresses: tuple[str, str] = ADDRESSES[0],
    index: str = "-7",
) -> str:
    """A Metadata request in JSON."""
    fields = {
        "isForwarded": False,
        "requestHeader": {
            "requestApiKey": 3,
            "requestApiVersion": 12,
            "correlationId": 9,
            "clientId": client_id,
            "requestApiKeyName": "METADATA",
        },
        "request": {"topics": [{"name": topic}]},
        "response": {"throttleTimeMs": 0, "topics": [{"errorCode": 3, "name": topic}]},
        "connection": "-".join(addresses) + index,
        "totalTimeMs": 1.25,
        "requestQueueTimeMs": 0.1,
        "localTimeMs": 0.2,
        "remoteTimeMs": 0.0,
        "throttleTimeMs": 12,
        "responseQueueTimeMs": 0.1,
        "sendTimeMs": 0.1,
        "securityProtocol": "SASL_SSL",
        "principal": principal,
        "listener": "EXTERNAL",
        "clientInformation": {"softwareName": "kgo", "softwareVersion": "unknown"},
    }
    text = json.dumps(fields, separators=(",", ":"), ensure_ascii=False)
    return f"{START} DEBUG Completed request:{text}{END}"


def named_line(client_id: str, form: str = "B") -> str:
    """A Fetch of a replica in the `Name: ...` form, A or B."""
    times = f"{TIMES},{AFTER}".format(t=2)
    if form == "A":
        times = "totalTime:2,queueTime:0,localTime:2,remoteTime:0,sendTime:0"
    return (
        f"{START} DEBUG Completed request:Name: FetchRequest; Version: 0; CorrelationId: 9; "
        f"ClientId: {client_id}; ReplicaId: 3; MaxWait: 500 ms; MinBytes: 1 bytes "
        f"from client /{REMOTE};{times}{END}"
    )


def hostile_lines() -> list[str]:
    ids = [id_ for id_ in IDS if "\n" not in id_]
    lines = [text_line(form, id_) for form in "CDEFG" for id_ in ids]
    lines += [text_line(form, principal=name) for form in "CDEFG" for name in PRINCIPALS]
    lines += [text_line(form, body=body) for form in "CDEFG" for body in BODIES]
    lines += [text_line(form, addresses=pair) for form in "CDEFG" for pair in ADDRESSES]
    lines += [text_line("G", key=key) for key in ("GROUP_COORDINATOR", "ALTER_ISR", "NO_SUCH_API")]
    lines += [named_line(id_, form) for form in "AB" for id_ in ids]
    lines += [json_line(id_) for id_ in (*ids, None, "", "line\nbreak", "\x00")]
    lines += [json_line(principal=name) for name in PRINCIPALS]
    lines += [json_line(topic=topic) for topic in (*ids, *BODIES)]
    lines += [
        json_line(addresses=pair, index=end) for pair in ADDRESSES for end in ("", "-1", "-0-12")
    ]
    return lines + broken_lines()


def broken_lines() -> list[str]:
    """Lines that must be skipped or rejected."""
    good, text = json_line(), text_line("G")
    return [
        "",
        "   ",
        f"{START} TRACE Processor 1 received request: x (kafka.network.RequestChannel$)",
        f"{START} WARN something else{END}",
        f"{START} INFO Completed request:{END}",
        good.replace('"requestApiKey":3', '"requestApiKey":"3x"'),
        good.replace('"connection":"', '"connexion":"'),
        good[: len(good) // 2],
        text[: len(text) // 2],
        text[len(text) // 2 :],
        "not a log line",
        "\x00\x01\x02\x03",
        good.replace(START, "[2026-13-45 99:99:99,999]"),
        good.replace(START, "2026-11-02T23:59:59.999Z"),
    ]


def write_hostile_log(path: Path) -> Path:
    """A log with a byte-order mark and Windows line ends on every third line."""
    lines = hostile_lines()
    ended = [line + ("\r\n" if index % 3 == 0 else "\n") for index, line in enumerate(lines)]
    path.write_bytes(("\ufeff" + "".join(ended) + json_line("whole")).encode() + b"\n")
    return path
