"""`rollcall identify`: which release an ApiVersions answer from elsewhere fits.

The JSON may be the answer as a request log or a tool prints it (`apiKeys` with `apiKey`,
`minVersion`, `maxVersion`, or the same in snake case), a log line's object with the answer in
`response`, what `rollcall brokers --json` prints of a broker, or `{"0": [0, 11], "3": [0, 13]}`.
"""

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from rollcall.catalog import (
    Candidate,
    Difference,
    Evidence,
    Range,
    ReleaseGuess,
    Verdict,
    api_name,
    identify_release,
)
from rollcall.cli.api_versions import shown
from rollcall.cli.broker_text import any_of, guessed_version
from rollcall.cli.output import print_json, safe_text
from rollcall.cli.settings import JsonOption
from rollcall.errors import RollcallError

CANNOT_TELL = 3
FORM = "rollcall-identify/1"
MOST_SHOWN = 5


def identify(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="A file with the answer as JSON; else from stdin."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say which release an ApiVersions answer (JSON) fits, and what speaks against the next best.

    Exit codes: 0 a release or a product fits, 1 it is no such answer, 3 nothing fits.

    Example: rollcall identify answer.json
    """
    answer = read_answer(_text(file))
    guess = identify_release(
        answer.ranges,
        supported_features=answer.supported,
        finalized_features=answer.finalized,
        error_code=answer.error_code,
    )
    if as_json:
        print_json(_document(guess))
    else:
        for line in _lines(guess):
            print(safe_text(line))
    if guess.verdict is Verdict.CANNOT_TELL and not guess.candidates:
        raise typer.Exit(CANNOT_TELL)


def _text(file: Path | None) -> str:
    try:
        return sys.stdin.read() if file is None else file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise RollcallError(f"the answer cannot be read: {error}") from None


@dataclass(frozen=True)
class Answer:
    """What an ApiVersions answer holds, whoever printed it."""

    ranges: Mapping[int, Range]
    supported: Mapping[str, Range] | None
    finalized: Mapping[str, int] | None
    error_code: int


def read_answer(text: str) -> Answer:
    try:
        document = _answer_in(json.loads(text))
        return Answer(
            ranges=dict(_ranges(document)),
            supported=_features(_field(document, "supportedFeatures")),
            finalized=_levels(_field(document, "finalizedFeatures")),
            error_code=int(_field(document, "errorCode") or 0),
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise RollcallError(
            "this is not an ApiVersions answer in JSON",
            hint='give {"apiKeys": [{"apiKey": 0, "minVersion": 0, "maxVersion": 11}, ...]}, '
            "as Kafka's request log prints it",
        ) from None


def _answer_in(found: Any) -> Mapping[str, Any]:
    """The object with the list of APIs, also when it is wrapped."""
    if isinstance(found, list):
        return {"apiKeys": found}
    for name in ("response", "api_versions"):
        if isinstance(found.get(name), dict):
            return dict(found[name])
    if not found:
        raise ValueError("nothing in it")
    return dict(found)


def _field(document: Mapping[str, Any], name: str) -> Any:
    """A field under Kafka's name of it, or in snake case."""
    snake = "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
    return document.get(name, document.get(snake))


def _ranges(document: Mapping[str, Any]) -> Iterator[tuple[int, Range]]:
    rows = _field(document, "apiKeys")
    if isinstance(rows, list):
        for row in rows:
            key = _field(row, "apiKey")
            lowest, highest = _field(row, "minVersion"), _field(row, "maxVersion")
            yield int(key), Range(int(lowest), int(highest))
        return
    for key, (low, high) in document.get("ranges", document).items():
        yield int(key), Range(int(low), int(high))


def _features(rows: Any) -> dict[str, Range] | None:
    if isinstance(rows, dict):
        return {str(name): Range(int(low), int(high)) for name, (low, high) in rows.items()}
    if rows is None:
        return None
    return {
        str(row["name"]): Range(int(_field(row, "minVersion")), int(_field(row, "maxVersion")))
        for row in rows
    }


def _levels(rows: Any) -> dict[str, int] | None:
    if isinstance(rows, dict):
        return {str(name): int(level) for name, level in rows.items()}
    if rows is None:
        return None
    return {str(row["name"]): int(_field(row, "maxVersionLevel")) for row in rows}


def _lines(guess: ReleaseGuess) -> Iterator[str]:
    yield _verdict(guess)
    for candidate in guess.candidates:
        yield f"  {_candidate(candidate)}"
    if guess.behind:
        yield f"  a proxy before {any_of(guess.behind)} would look like this"
    for evidence in guess.evidence:
        yield f"  seen: {_evidence(evidence)}"
    best = guess.next_best
    if best is not None:
        against = [_difference(d) for d in best.against[:MOST_SHOWN]]
        if len(best.against) > MOST_SHOWN:
            against.append(f"and {len(best.against) - MOST_SHOWN} more")
        if best.evidence is not None:
            against.append(_evidence(best.evidence))
        yield f"next best: {best.line} ({best.mode}); against it: {', '.join(against)}"


def _verdict(guess: ReleaseGuess) -> str:
    version = guessed_version(guess)
    if guess.verdict is Verdict.OTHER:
        name = any_of([other.name for other in guess.others]) or "unknown software"
        return f"not Apache Kafka: {name}{f' {version}' if version else ''} (inferred)"
    if version is None:
        return "cannot tell: the list fits no release"
    return f"Apache Kafka {version} (inferred)"


def _candidate(candidate: Candidate) -> str:
    patches = [str(patch) for patch in candidate.patches]
    reach = f"{patches[0]} to {patches[-1]}" if len(patches) > 1 else "".join(patches)
    parts = [reach, candidate.mode or "", *candidate.circumstances]
    return f"{candidate.line}: {', '.join(filter(None, parts))}"


def _evidence(evidence: Evidence) -> str:
    parts = [str(evidence.sign)]
    if evidence.api_key is not None:
        parts.append(api_name(evidence.api_key))
    if evidence.seen is not None:
        parts.append(shown(evidence.seen))
    if evidence.expected is not None:
        parts.append(f"where a release has {shown(evidence.expected)}")
    return " ".join(parts)


def _difference(difference: Difference) -> str:
    name = api_name(difference.api_key)
    return f"{name} is {shown(difference.seen)}, there {shown(difference.expected)}"


def _document(guess: ReleaseGuess) -> dict[str, object]:
    best = guess.next_best
    return {
        "form": FORM,
        "verdict": guess.verdict,
        "source": guess.source,
        "candidates": [
            {
                "line": candidate.line,
                "mode": candidate.mode,
                "patches": [str(patch) for patch in candidate.patches],
                "circumstances": list(candidate.circumstances),
            }
            for candidate in guess.candidates
        ],
        "others": [
            {"name": other.name, "since": other.since, "until": other.until}
            for other in guess.others
        ],
        "newer_than": guess.newer_than,
        "behind": list(guess.behind),
        "evidence": [
            {
                "sign": evidence.sign,
                "api_key": evidence.api_key,
                "seen": list(evidence.seen) if evidence.seen else None,
                "expected": list(evidence.expected) if evidence.expected else None,
            }
            for evidence in guess.evidence
        ],
        "next_best": best
        and {
            "line": best.line,
            "mode": best.mode,
            "against": [
                {
                    "api_key": d.api_key,
                    "seen": list(d.seen) if d.seen else None,
                    "expected": list(d.expected) if d.expected else None,
                }
                for d in best.against
            ],
        },
    }
