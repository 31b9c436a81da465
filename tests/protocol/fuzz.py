"""Fuzzer: feeds mutated messages and frames to every reader.

`make test` runs a bounded part of it. To run until a failure is found:

    .venv/bin/python -m tests.protocol.fuzz
    .venv/bin/python -m tests.protocol.fuzz --minutes 30 --seed 7
"""

import argparse
import random
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count

from rollcall.protocol.codec import Codec
from rollcall.protocol.dialects import DIALECT_NAMES, Dialect, dialect
from rollcall.protocol.errors import RemoteProtocolError
from rollcall.protocol.framing import frame
from rollcall.protocol.headers import write_request
from tests.protocol.server_conversation import ServerConversation
from tests.protocol.strategies import Chance, Maker, every_case, full_message

INTERESTING = [
    bytes.fromhex(text)
    for text in (
        "00", "01", "7f", "80", "ff", "7fff", "8000", "ffff", "fffe", "7fffffff", "80000000",
        "ffffffff", "fffffffe", "00ffffff", "0000ffff", "ffffffff07", "ffffffff0f", "8080808000",
        "808080808001", "ffff7f", "8001", "ff01", "0000000000000000", "7fffffffffffffff",
    )
]  # fmt: skip


@dataclass(frozen=True)
class Target:
    """A function that reads bytes, and valid input for it."""

    name: str
    read: Callable[[bytes], object]
    seeds: tuple[bytes, ...]


def targets() -> list[Target]:
    return [*_codec_targets(), *_server_targets()]


def _codec_targets() -> Iterator[Target]:
    for dialect_name, name, version in every_case():
        codec = dialect(dialect_name).codec(name, version)
        maker = Maker(Chance.seeded((dialect_name, name, version)), dialect(dialect_name), version)
        messages = (full_message(dialect(dialect_name), name, version), maker.message(name))

        def read(data: bytes, codec: Codec = codec) -> None:
            message = codec.decode(data)
            assert codec.decode(codec.encode(message)) == message

        yield Target(str(codec), read, tuple(codec.encode(message) for message in messages))


def _server_targets() -> Iterator[Target]:
    """Frames for the broker's side of a connection."""
    for dialect_name in map(dialect, DIALECT_NAMES):
        for api in dialect_name.apis.values():
            version = api.versions.highest
            body = full_message(dialect_name, api.request.name, version)
            parts = write_request(dialect_name, api, version, 7, "me", body)

            def read(data: bytes, dialect_name: Dialect = dialect_name) -> None:
                for request in ServerConversation(dialect_name).receive(data):
                    api = dialect_name.apis.get(request.api_key)
                    if api is not None and request.api_version in api.request.versions:
                        request.body(dialect_name)

            yield Target(f"{api.name} on a {dialect_name.name} listener", read, (frame(parts) * 2,))


def mutate(chance: random.Random, data: bytes, other: bytes) -> bytes:
    at, to = sorted(chance.randrange(len(data) + 1) for _ in range(2))
    special = chance.choice(INTERESTING)
    match chance.randrange(8):
        case 0:
            return data[:at]
        case 1:
            return data[:at] + data[to:]
        case 2:
            return data[:at] + special + data[at:]
        case 3:
            return data[:at] + special + data[at + len(special) :]
        case 4:
            return data[:to] + data[at:]
        case 5:
            cut = chance.randrange(len(other) + 1)
            return data[:at] + other[cut:]
        case 6:
            return data[:at] + chance.randbytes(chance.randrange(1, 9)) + data[to:]
    if not data:
        return special
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]


@dataclass(frozen=True)
class FuzzFailure:
    target: str
    data: bytes
    error: BaseException


def run(frames: Iterator[int], seed: int = 0) -> Iterator[FuzzFailure | None]:
    """Yield a failure or None per frame; only RemoteProtocolError is expected."""
    chance = random.Random(seed)
    all_targets = targets()
    seeds = [wire for target in all_targets for wire in target.seeds]
    for number in frames:
        target = all_targets[number % len(all_targets)]
        data = chance.choice(target.seeds)
        for _ in range(chance.randrange(1, 4)):
            data = mutate(chance, data, chance.choice(seeds))
        try:
            target.read(data)
        except RemoteProtocolError:
            yield None
        except Exception as error:  # noqa: BLE001  any other exception is a failure
            yield FuzzFailure(target.name, data, error)
        else:
            yield None


def main() -> int:
    parser = argparse.ArgumentParser(description="Feed mutated bytes to every reader.")
    parser.add_argument(
        "--minutes", type=float, help="stop after this many minutes (default: never)"
    )
    parser.add_argument(
        "--seed", type=int, default=random.randrange(2**32), help="random seed (default: random)"
    )
    options = parser.parse_args()
    end = time.monotonic() + options.minutes * 60 if options.minutes else float("inf")
    for done, failure in enumerate(run(count(), options.seed), start=1):
        if failure is not None:
            sys.stdout.write(f"{failure.target}: {failure.error!r}\n{failure.data.hex()}\n")
            return 1
        if done % 100_000 == 0:
            sys.stdout.write(f"{done:,} frames, seed {options.seed}: no failure\n")
        if time.monotonic() > end:
            break
    return 0


if __name__ == "__main__":
    sys.exit(main())
