"""Old client libraries, downloaded once from PyPI into `.cache/kafka/clients`, each pinned.

They are unpacked and not installed: nothing of theirs gets near the libraries of the tests.
"""

import sys
from pathlib import Path

import pytest

from tests.kafka.jars import CACHE
from tests.kafka.packages import unpacked

OLD_KAFKA_PYTHON = "kafka-python==1.4.7"
OLD_LIBRDKAFKA = "confluent-kafka==1.3.0"
"""The last version before librdkafka reported its name; the wheel is for an old Python."""
ITS_PYTHON = ["--python-version", "38", "--implementation", "cp", "--abi", "cp38"]
ITS_SYSTEM = ["--platform", "manylinux1_x86_64"]


def old_kafka_python() -> Path:
    """The directory to put on PYTHONPATH."""
    if sys.version_info >= (3, 12):
        pytest.skip(f"{OLD_KAFKA_PYTHON} needs a Python before 3.12")
    return _fetched(OLD_KAFKA_PYTHON)


def old_librdkafka() -> Path:
    """The directory with the shared library."""
    return _fetched(OLD_LIBRDKAFKA, *ITS_PYTHON, *ITS_SYSTEM)


def _fetched(wanted: str, *options: str) -> Path:
    directory = CACHE / "clients" / wanted.replace("==", "-")
    return unpacked(directory, "--no-deps", "--only-binary", ":all:", *options, wanted)
