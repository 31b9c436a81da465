"""`rollcall identify`: infer the release from a saved ApiVersions response."""

import sys
from collections.abc import Iterator
from pathlib import Path

import typer

from rollcall.catalog import (
    BrokerKind,
    ClosestRelease,
    Difference,
    Evidence,
    EvidenceKind,
    LineCandidate,
    Range,
    ReleaseInference,
    api_name,
    identify_release,
)
from rollcall.cli.brokers.api_versions_input import parse_response
from rollcall.cli.brokers.text import any_of, inferred_software, inferred_version
from rollcall.cli.exit_codes import NO_MATCH
from rollcall.cli.terminal.output import print_json, print_lines
from rollcall.cli.terminal.text import range_text
from rollcall.errors import RollcallError

STDIN = Path("-")
FORMAT = "rollcall-identify/2"
MAX_DIFFERENCES = 3
EVIDENCE = {
    EvidenceKind.API_RANGES: "list of APIs",
    EvidenceKind.METADATA_VERSION: "supported metadata.version",
    EvidenceKind.FINALIZED_LEVEL: "finalized metadata.version",
    EvidenceKind.INTER_BROKER_APIS: "inter-broker APIs",
    EvidenceKind.ERROR_RESPONSE: "content of the error response:",
    EvidenceKind.NO_RESPONSE: "no response to ApiVersions",
    EvidenceKind.UNKNOWN_API: "API that no release has:",
    EvidenceKind.ABOVE_NEWEST_RELEASE: "above the newest known release:",
    EvidenceKind.SUBSET_OF_RELEASE: "subset of a release:",
    EvidenceKind.UNKNOWN_COMBINATION: "combination of versions that no release has",
    EvidenceKind.PRODUCT_FINGERPRINT: "fingerprint of another product",
}


def identify_response(file: Path | None, *, as_json: bool) -> None:
    response = parse_response(_read(None if file == STDIN else file))
    inference = identify_release(
        response.ranges,
        supported_features=response.supported,
        finalized_features=response.finalized,
        error_code=response.error_code,
    )
    if as_json:
        print_json(_document(inference))
    else:
        print_lines(_lines(inference))
    if not (inference.candidates or inference.other_products or inference.newer_than):
        raise typer.Exit(NO_MATCH)


def _read(file: Path | None) -> str:
    try:
        return sys.stdin.read() if file is None else file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise RollcallError(
            f"cannot read {file or 'standard input'}: {reason}",
            hint="name a file with the response as JSON, or pipe it to standard input",
        ) from None


def _lines(inference: ReleaseInference) -> Iterator[str]:
    yield _conclusion(inference)
    for candidate in inference.candidates:
        yield f"  {_candidate(candidate)}"
    if inference.containing_lines:
        yield f"  possibly a proxy in front of {any_of(inference.containing_lines)}"
    for evidence in inference.evidence:
        yield f"  evidence: {_evidence(evidence)}"
    if inference.closest is not None:
        yield _closest(inference.closest)


def _conclusion(inference: ReleaseInference) -> str:
    version = inferred_version(inference)
    if inference.kind is BrokerKind.OTHER:
        name = any_of([product.name for product in inference.other_products]) or "unknown software"
        return f"not Apache Kafka: {name}{f' {version}' if version else ''} (inferred)"
    if version is None:
        return "unknown: the response matches no release"
    return f"{inferred_software(inference)} {version} (inferred)"


def _candidate(candidate: LineCandidate) -> str:
    patches = [str(patch) for patch in candidate.patches]
    span = f"{patches[0]} to {patches[-1]}" if len(patches) > 1 else "".join(patches)
    parts = [span, candidate.mode or "", *candidate.conditions]
    return f"{candidate.line}: {', '.join(filter(None, parts))}"


def _evidence(evidence: Evidence) -> str:
    parts = [EVIDENCE[evidence.kind]]
    if evidence.api_key is not None:
        parts.append(api_name(evidence.api_key))
    if evidence.observed is not None:
        parts.append(range_text(evidence.observed))
    if evidence.expected is not None:
        parts.append(f"(a release has {range_text(evidence.expected)})")
    return " ".join(parts)


def _closest(closest: ClosestRelease) -> str:
    texts = [_difference(difference) for difference in closest.differences[:MAX_DIFFERENCES]]
    if len(closest.differences) > MAX_DIFFERENCES:
        texts.append(f"{len(closest.differences) - MAX_DIFFERENCES} more")
    if closest.evidence is not None:
        texts.append(_evidence(closest.evidence))
    return f"closest other release: {closest.line} ({closest.mode}); differs in {', '.join(texts)}"


def _difference(difference: Difference) -> str:
    observed, expected = range_text(difference.observed), range_text(difference.expected)
    return f"{api_name(difference.api_key)} {observed} instead of {expected}"


def _document(inference: ReleaseInference) -> dict[str, object]:
    closest = inference.closest
    return {
        "format": FORMAT,
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
            {"name": product.name, "since": product.since, "until": product.until}
            for product in inference.other_products
        ],
        "newer_than": inference.newer_than,
        "containing_lines": list(inference.containing_lines),
        "evidence": [
            {
                "kind": evidence.kind,
                "api_key": evidence.api_key,
                "observed": _pair(evidence.observed),
                "expected": _pair(evidence.expected),
            }
            for evidence in inference.evidence
        ],
        "closest": closest
        and {
            "line": closest.line,
            "mode": closest.mode,
            "differences": [
                {
                    "api_key": difference.api_key,
                    "observed": _pair(difference.observed),
                    "expected": _pair(difference.expected),
                }
                for difference in closest.differences
            ],
        },
    }


def _pair(range_: Range | None) -> list[int] | None:
    return list(range_) if range_ else None
