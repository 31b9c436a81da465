"""Logs and tables in an S3-compatible object store, through Hadoop's connector."""

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.request import Request, urlopen
from xml.etree import ElementTree as ET

import pytest

from rollcall.pipeline.spark.config import SMALL_JOB, SMALL_JOB_JVM
from tests.kafka.brokers import Process, free_port
from tests.kafka.jars import CACHE, Artifact, jars_for_spark
from tests.kafka.packages import unpacked
from tests.pipeline.running import lines, requests

pytestmark = [pytest.mark.kafka, pytest.mark.timeout(900)]

# The version of Spark's Hadoop, and only the needed parts of the SDK (700 MB in all).
SDK = "2.35.4"
CONNECTOR = (
    Artifact("org.apache.hadoop", "hadoop-aws", "3.5.0"),
    Artifact("software.amazon.s3.analyticsaccelerator", "analyticsaccelerator-s3", "1.3.1"),
    *(
        Artifact("software.amazon.awssdk", name, SDK, alone=False)
        for name in ("s3", "s3-transfer-manager", "sts")
    ),
)
SERVER_NEEDS = ("flask", "flask-cors", "py-partiql-parser", "moto==5.2.5")
SERVE = "import sys; from moto.server import main; main(['-H', '127.0.0.1', '-p', sys.argv[1]])"
HEADERS = {
    "Content-Type": "application/octet-stream",
    # the server requires a signature and does not check it
    "Authorization": "AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/s3/aws4_request, "
    "SignedHeaders=host, Signature=0",
}
KEY = ".//{http://s3.amazonaws.com/doc/2006-03-01/}Key"


@pytest.fixture(scope="module")
def server_packages() -> Path:
    """The S3 server in a separate directory: its packages conflict with the pinned ones."""
    return unpacked(CACHE / "s3-server", *SERVER_NEEDS)


@dataclass(frozen=True)
class Bucket:
    """A bucket, read and written over plain HTTP."""

    port: int
    name: str

    def ask(self, method: str, key: str = "", body: bytes = b"") -> bytes:
        url = f"http://127.0.0.1:{self.port}/{self.name}{key}"
        with urlopen(Request(url, body or None, HEADERS, method=method), timeout=60) as answer:
            content: bytes = answer.read()
            return content

    def copy(self, prefix: str, directory: Path) -> None:
        """Copy a prefix to the local disk, as `aws s3 sync` does."""
        listing = ET.fromstring(self.ask("GET", f"?list-type=2&prefix={prefix}/"))
        for key in [str(found.text) for found in listing.iterfind(KEY)]:
            target = directory / key.removeprefix(f"{prefix}/")
            target.parent.mkdir(parents=True, exist_ok=True)
            if not key.endswith("/"):
                target.write_bytes(self.ask("GET", f"/{key}"))


@pytest.fixture
def bucket(server_packages: Path, tmp_path: Path) -> Iterator[Bucket]:
    port = free_port()
    path = os.pathsep.join([str(server_packages), *sys.path])
    command = ["env", f"PYTHONPATH={path}", sys.executable, "-c", SERVE, str(port)]
    server = Process("an S3 server", port, command, tmp_path)
    try:
        server.wait_until_listening()
        bucket = Bucket(port, "cluster")
        bucket.ask("PUT")
        yield bucket
    finally:
        server.stop()


def rollcall(*words: str, conf: dict[str, str] | None = None) -> str:
    settings = [
        word for key, value in (conf or {}).items() for word in ("--conf", f"{key}={value}")
    ]
    program = [sys.executable, "-m", "rollcall"]
    done = subprocess.run(
        [*program, *words, *settings], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def conf(bucket: Bucket) -> dict[str, str]:
    """Spark settings for the bucket."""
    s3a = {
        "endpoint": f"http://127.0.0.1:{bucket.port}",
        "endpoint.region": "us-east-1",
        "path.style.access": "true",
        "access.key": "someone",
        "secret.key": "sesame",
    }
    return {
        **{f"spark.hadoop.fs.s3a.{name}": value for name, value in s3a.items()},
        **SMALL_JOB,
        "spark.jars": jars_for_spark("s3-connector", CONNECTOR),
        "spark.driver.extraJavaOptions": SMALL_JOB_JVM,
    }


def test_logs_can_be_generated_into_s3(
    bucket: Bucket, conf: dict[str, str], tmp_path: Path
) -> None:
    made = ["--output", "s3a://cluster/made", "--lines", "500", "--brokers", "3", "--format", "J"]
    result = json.loads(rollcall("generate-logs", *made, "--json", conf=conf))
    assert result["lines"] == 500
    bucket.copy("made", tmp_path / "made")
    logs = sorted((tmp_path / "made").glob("broker-*/*"))
    assert sum(len(log.read_bytes().splitlines()) for log in logs) == 500
    assert not (tmp_path / "made" / ".unfinished").exists()


def test_logs_and_tables_can_be_in_s3(bucket: Bucket, conf: dict[str, str], tmp_path: Path) -> None:
    where = ["--tables", "s3a://cluster/tables"]
    bucket.ask("PUT", "/logs/b1/request.log.1", lines(20).encode() + b"half a line")
    bucket.ask("PUT", "/logs/b2/request.log.2.gz", gzip.compress(lines(20, first=20).encode()))
    files = [f"s3a://cluster/logs/{name}" for name in ("b1/request.log.1", "b2/request.log.2.gz")]
    result = json.loads(rollcall("pipeline", "run", *files, *where, "--json", conf=conf))
    assert (result["files"], result["requests"], result["rejected"]) == (2, 40, 0)
    bucket.ask("PUT", "/logs/b1/request.log.1", lines(20).encode() + lines(5, first=40).encode())
    result = json.loads(rollcall("pipeline", "run", *files, *where, "--json", conf=conf))
    assert (result["requests"], result["already_read"]) == (5, 1)
    rollcall("pipeline", "compact", *where, conf=conf)
    listed = json.loads(rollcall("tables", "list", *where, "--json", conf=conf))
    assert listed["read"]["requests"] == 45
    bucket.copy("tables", tmp_path / "copy")
    assert requests(tmp_path / "copy") == 45
    assert "librdkafka" in rollcall("report", "clients", "--tables", str(tmp_path / "copy"))
