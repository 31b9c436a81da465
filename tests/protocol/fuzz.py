"""The fuzz target: valid bytes, damaged in the ways that bytes get damaged, into every reader.

`make test` runs a bounded part of it. Without an end, until something is found:

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
from rollcall.protocol.conversation import ServerConversation
from rollcall.protocol.dialects import DIALECT_NAMES, Dialect, dialect
from rollcall.protocol.errors import RemoteProtocolError
from rollcall.protocol.framing import frame
from rollcall.protocol.headers import write_request
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
    """Something that reads bytes, and bytes that it can read."""

    name: str
    read: Callable[[bytes], object]
    seeds: tuple[bytes, ...]


def targets() -> list[Target]:
    return [*_codec_targets(), *_server_targets()]


def _codec_targets() -> Iterator[Target]:
    for speech, name, version in every_case():
        codec = dialect(speech).codec(name, version)
        maker = Maker(Chance.seeded((speech, name, version)), dialect(speech), version)
        messages = (full_message(dialect(speech), name, version), maker.message(name))

        def read(data: bytes, codec: Codec = codec) -> None:
            message = codec.decode(data)
            assert codec.decode(codec.encode(message)) == message

        yield Target(str(codec), read, tuple(codec.encode(message) for message in messages))


def _server_targets() -> Iterator[Target]:
    """Frames, several in a row, into the broker's side of a connection."""
    for speech in map(dialect, DIALECT_NAMES):
        for api in speech.apis.values():
            version = api.versions.highest
            body = full_message(speech, api.request.name, version)
            parts = write_request(speech, api, version, 7, "me", body)

            def read(data: bytes, speech: Dialect = speech) -> None:
                for request in ServerConversation(speech).receive(data):
                    api = speech.apis.get(request.api_key)
                    if api is not None and request.api_version in api.request.versions:
                        request.body(speech)

            yield Target(f"{api.name} on a {speech.name} listener", read, (frame(parts) * 2,))


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
class Find:
    target: str
    data: bytes
    error: BaseException


def run(frames: Iterator[int], seed: int = 0) -> Iterator[Find | None]:
    """For every frame None, or what it broke: anything but a message or a RemoteProtocolError."""
    chance = random.Random(seed)
    every = targets()
    seeds = [wire for target in every for wire in target.seeds]
    for number in frames:
        target = every[number % len(every)]
        data = chance.choice(target.seeds)
        for _ in range(chance.randrange(1, 4)):
            data = mutate(chance, data, chance.choice(seeds))
        try:
            target.read(data)
        except RemoteProtocolError:
            yield None
        except Exception as error:  # noqa: BLE001  whatever it is, it is a find
            yield Find(target.name, data, error)
        else:
            yield None


def main() -> int:
    parser = argparse.ArgumentParser(description="Feed damaged bytes to every reader.")
    parser.add_argument("--minutes", type=float, help="end after so long (default: never)")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    options = parser.parse_args()
    end = time.monotonic() + options.minutes * 60 if options.minutes else float("inf")
    for done, find in enumerate(run(count(), options.seed), start=1):
        if find is not None:
            sys.stdout.write(f"{find.target}: {find.error!r}\n{find.data.hex()}\n")
            return 1
        if done % 100_000 == 0:
            sys.stdout.write(f"{done:,} frames, seed {options.seed}: nothing found\n")
        if time.monotonic() > end:
            break
    return 0


if __name__ == "__main__":
    sys.exit(main())
