"""Subject of a certificate as Java prints it (RFC 2253), to get the same principals as Kafka.

    User:CN=client,OU=data,O=Example,C=DE

A certificate lists the names from general to specific; RFC 2253 prints them in reverse order.
Attributes without a keyword in RFC 2253 are printed as object identifier and hex, as in Java.
Only certificates that TLS has verified are read here, so they are well-formed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

VERSION_TAG: Final = 0xA0

KEYWORDS: Final = {
    "2.5.4.3": "CN",
    "2.5.4.6": "C",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.9": "STREET",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "0.9.2342.19200300.100.1.1": "UID",
    "0.9.2342.19200300.100.1.25": "DC",
}
# UTF8String, PrintableString, T61String, IA5String, GeneralString, UniversalString, BMPString.
# Java decodes all of them as UTF-8.
TEXT_TAGS: Final = frozenset({0x0C, 0x13, 0x14, 0x16, 0x1B, 0x1C, 0x1E})
ESCAPED: Final = frozenset(',=+<>#;"\\')


def subject_of(certificate: bytes) -> str:
    """Distinguished name of the subject of a certificate in DER form."""
    (_, whole, _), *_ = _elements(certificate)
    (_, to_be_signed, _), *_ = _elements(whole)
    parts = [part for part in _elements(to_be_signed) if part[0] != VERSION_TAG]
    subject = parts[4][1]  # after serial number, signature, issuer and validity
    names = [_relative_name(name) for _, name, _ in _elements(subject)]
    return ",".join(reversed(names))


def _elements(data: bytes) -> Iterator[tuple[int, bytes, bytes]]:
    """(tag, content, element with tag and length) of each DER element."""
    at = 0
    while at < len(data):
        start, tag, size = at, data[at], data[at + 1]
        at += 2
        if size & 0x80:
            count = size & 0x7F
            size = int.from_bytes(data[at : at + count], "big")
            at += count
        yield tag, data[at : at + size], data[start : at + size]
        at += size


def _relative_name(attributes: bytes) -> str:
    return "+".join(_attribute(content) for _, content, _ in _elements(attributes))


def _attribute(content: bytes) -> str:
    (_, number, _), (tag, value, whole) = _elements(content)
    identifier = _object_identifier(number)
    keyword = KEYWORDS.get(identifier)
    if keyword is None or tag not in TEXT_TAGS:
        return f"{keyword or identifier}=#{whole.hex()}"
    return f"{keyword}={_escaped(value.decode('utf-8', 'replace'))}"


def _object_identifier(content: bytes) -> str:
    numbers = []
    value = 0
    for byte in content:
        value = value << 7 | byte & 0x7F
        if not byte & 0x80:
            numbers.append(value)
            value = 0
    first = min(numbers[0] // 40, 2)
    return ".".join(map(str, [first, numbers[0] - 40 * first, *numbers[1:]]))


def _escaped(text: str) -> str:
    """Escape special characters, and spaces at both ends, with a backslash."""
    inner = text.strip(" \r")
    lead = len(text) - len(text.lstrip(" \r"))
    trail = len(text) - lead - len(inner)
    outside = text[:lead], text[len(text) - trail :]
    before, after = ("".join(f"\\{c}" for c in part) for part in outside)
    middle = "".join(f"\\{c}" if c in ESCAPED else "\\00" if c == "\0" else c for c in inner)
    return before + middle + after
