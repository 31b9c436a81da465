"""`rollcall identify`: which release an ApiVersions answer from elsewhere fits."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from rollcall.catalog import (
    Candidate,
    Difference,
    Evidence,
    ReleaseGuess,
    Sign,
    Verdict,
    api_name,
    identify_release,
)
from rollcall.cli.brokers.api_versions import shown
from rollcall.cli.brokers.api_versions_input import read_answer
from rollcall.cli.brokers.text import any_of, guessed_version
from rollcall.cli.options.common import JsonOption
from rollcall.cli.terminal.output import print_json, print_lines
from rollcall.errors import RollcallError

NOTHING_FITS = 3
STDIN = Path("-")
FORM = "rollcall-identify/1"
MOST_SHOWN = 5
SIGNS = {
    Sign.LIST: "the list of APIs",
    Sign.METADATA_VERSION: "the supported metadata.version",
    Sign.FINALIZED_LEVEL: "the finalized metadata.version",
    Sign.BROKER_KEYS: "the APIs that only brokers use",
    Sign.ERROR_ANSWER: "how the answer with an error is made,",
    Sign.NO_ANSWER: "ApiVersions is not answered",
    Sign.UNKNOWN_KEY: "an API that no release has:",
    Sign.BEYOND: "beyond the newest release:",
    Sign.BELOW: "less than a release lists:",
    Sign.MIX: "versions that no release has together",
    Sign.MARKS: "the marks of another broker",
}


def identify(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="A file with the answer as JSON; - or none: stdin."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Say which release an ApiVersions answer (JSON) fits, and what speaks against the next best.

    Exit codes: 0 a release or a product fits, 1 it is no such answer, 2 wrong usage,
    3 nothing fits.

    Example: rollcall identify answer.json
    """
    answer = read_answer(_text(None if file == STDIN else file))
    guess = identify_release(
        answer.ranges,
        supported_features=answer.supported,
        finalized_features=answer.finalized,
        error_code=answer.error_code,
    )
    if as_json:
        print_json(_document(guess))
    else:
        print_lines(_lines(guess))
    if not (guess.candidates or guess.others or guess.newer_than):
        raise typer.Exit(NOTHING_FITS)


def _text(file: Path | None) -> str:
    try:
        return sys.stdin.read() if file is None else file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text in UTF-8"
        raise RollcallError(
            f"{file or 'standard input'} cannot be read: {reason}",
            hint="name a file with the answer as JSON, or pipe it in",
        ) from None


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
    parts = [SIGNS[evidence.sign]]
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
