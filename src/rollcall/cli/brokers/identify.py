"""`rollcall identify`: which release an ApiVersions answer from elsewhere fits."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from rollcall.catalog import (
    BrokerKind,
    Difference,
    Evidence,
    EvidenceKind,
    LineCandidate,
    ReleaseInference,
    api_name,
    identify_release,
)
from rollcall.cli.brokers.api_versions import shown
from rollcall.cli.brokers.api_versions_input import read_answer
from rollcall.cli.brokers.text import any_of, inferred_version
from rollcall.cli.exit_codes import NO_MATCH
from rollcall.cli.options.common import JsonOption
from rollcall.cli.terminal.output import print_json, print_lines
from rollcall.errors import RollcallError

STDIN = Path("-")
FORM = "rollcall-identify/1"
MOST_SHOWN = 5
EVIDENCE = {
    EvidenceKind.API_RANGES: "the list of APIs",
    EvidenceKind.METADATA_VERSION: "the supported metadata.version",
    EvidenceKind.FINALIZED_LEVEL: "the finalized metadata.version",
    EvidenceKind.INTER_BROKER_APIS: "the APIs that only brokers use",
    EvidenceKind.ERROR_RESPONSE: "how the answer with an error is made,",
    EvidenceKind.NO_RESPONSE: "ApiVersions is not answered",
    EvidenceKind.UNKNOWN_API: "an API that no release has:",
    EvidenceKind.ABOVE_NEWEST_RELEASE: "beyond the newest release:",
    EvidenceKind.SUBSET_OF_RELEASE: "less than a release lists:",
    EvidenceKind.UNKNOWN_COMBINATION: "versions that no release has together",
    EvidenceKind.PRODUCT_FINGERPRINT: "the marks of another broker",
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
    inference = identify_release(
        answer.ranges,
        supported_features=answer.supported,
        finalized_features=answer.finalized,
        error_code=answer.error_code,
    )
    if as_json:
        print_json(_document(inference))
    else:
        print_lines(_lines(inference))
    if not (inference.candidates or inference.other_products or inference.newer_than):
        raise typer.Exit(NO_MATCH)


def _text(file: Path | None) -> str:
    try:
        return sys.stdin.read() if file is None else file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text in UTF-8"
        raise RollcallError(
            f"{file or 'standard input'} cannot be read: {reason}",
            hint="name a file with the answer as JSON, or pipe it in",
        ) from None


def _lines(inference: ReleaseInference) -> Iterator[str]:
    yield _verdict(inference)
    for candidate in inference.candidates:
        yield f"  {_candidate(candidate)}"
    if inference.containing_lines:
        yield f"  a proxy before {any_of(inference.containing_lines)} would look like this"
    for evidence in inference.evidence:
        yield f"  seen: {_evidence(evidence)}"
    best = inference.closest
    if best is not None:
        against = [_difference(d) for d in best.differences[:MOST_SHOWN]]
        if len(best.differences) > MOST_SHOWN:
            against.append(f"and {len(best.differences) - MOST_SHOWN} more")
        if best.evidence is not None:
            against.append(_evidence(best.evidence))
        yield f"next best: {best.line} ({best.mode}); against it: {', '.join(against)}"


def _verdict(inference: ReleaseInference) -> str:
    version = inferred_version(inference)
    if inference.kind is BrokerKind.OTHER:
        name = any_of([other.name for other in inference.other_products]) or "unknown software"
        return f"not Apache Kafka: {name}{f' {version}' if version else ''} (inferred)"
    if version is None:
        return "cannot tell: the list fits no release"
    return f"Apache Kafka {version} (inferred)"


def _candidate(candidate: LineCandidate) -> str:
    patches = [str(patch) for patch in candidate.patches]
    reach = f"{patches[0]} to {patches[-1]}" if len(patches) > 1 else "".join(patches)
    parts = [reach, candidate.mode or "", *candidate.conditions]
    return f"{candidate.line}: {', '.join(filter(None, parts))}"


def _evidence(evidence: Evidence) -> str:
    parts = [EVIDENCE[evidence.kind]]
    if evidence.api_key is not None:
        parts.append(api_name(evidence.api_key))
    if evidence.observed is not None:
        parts.append(shown(evidence.observed))
    if evidence.expected is not None:
        parts.append(f"where a release has {shown(evidence.expected)}")
    return " ".join(parts)


def _difference(difference: Difference) -> str:
    name = api_name(difference.api_key)
    return f"{name} is {shown(difference.observed)}, there {shown(difference.expected)}"


def _document(inference: ReleaseInference) -> dict[str, object]:
    best = inference.closest
    return {
        "form": FORM,
        "kind": inference.kind,
        "provenance": inference.provenance,
        "candidates": [
            {
                "line": candidate.line,
                "mode": candidate.mode,
                "patches": [str(patch) for patch in candidate.patches],
                "conditions": list(candidate.conditions),
            }
            for candidate in inference.candidates
        ],
        "other_products": [
            {"name": other.name, "since": other.since, "until": other.until}
            for other in inference.other_products
        ],
        "newer_than": inference.newer_than,
        "containing_lines": list(inference.containing_lines),
        "evidence": [
            {
                "kind": evidence.kind,
                "api_key": evidence.api_key,
                "observed": list(evidence.observed) if evidence.observed else None,
                "expected": list(evidence.expected) if evidence.expected else None,
            }
            for evidence in inference.evidence
        ],
        "closest": best
        and {
            "line": best.line,
            "mode": best.mode,
            "differences": [
                {
                    "api_key": d.api_key,
                    "observed": list(d.observed) if d.observed else None,
                    "expected": list(d.expected) if d.expected else None,
                }
                for d in best.differences
            ],
        },
    }
