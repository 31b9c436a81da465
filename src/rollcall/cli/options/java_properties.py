"""The settings of a Java client, which operators have at hand: its `.properties` file.

Read are bootstrap.servers, security.protocol, sasl.* (PLAIN and SCRAM) and ssl.* with PEM, as the
Java client reads them; all other keys are nobody's business here. A key store of another kind
cannot be read, and is an error that says how to turn it into PEM.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from textwrap import wrap

from rollcall.client import SaslConfig, TlsConfig
from rollcall.errors import ConfigError

_PAIR = re.compile(r"((?:\\.|[^\\=:\s])*)\s*[=:]?\s*(.*)", re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_JAAS = re.compile(
    r"""\s*([\w.$]+)\s+(?:required|requisite|sufficient|optional)\s*(.*?)\s*;\s*""", re.DOTALL
)
_JAAS_OPTION = re.compile(
    r"""([\w.]+)\s*=\s*(?:"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|([^\s"';]+))"""
)
_PEM = re.compile(
    r"\s*(-----BEGIN [A-Z0-9 ]+-----)\s*([A-Za-z0-9+/=\s]+?)\s*(-----END [A-Z0-9 ]+-----)\s*"
)
_LOGIN = re.compile(r"(Plain|Scram)LoginModule$")


def parse_properties(text: str) -> dict[str, str]:
    """Keys and values, with Java's comments, continued lines and escapes."""
    found = {}
    for line in _logical_lines(text):
        pair = _PAIR.fullmatch(line)
        assert pair is not None, "the expression takes any text"
        found[_unescaped(pair[1])] = _unescaped(pair[2])
    return found


def _logical_lines(text: str) -> Iterator[str]:
    pending = ""
    for line in text.splitlines():
        line = line.lstrip(" \t\f")
        if not pending and (not line or line[0] in "#!"):
            continue
        pending += line
        backslashes = len(pending) - len(pending.rstrip("\\"))
        if backslashes % 2:
            pending = pending[:-1]
            continue
        yield pending
        pending = ""
    if pending:
        yield pending


def _unescaped(text: str) -> str:
    def meant(match: re.Match[str]) -> str:
        what = match[1]
        return chr(int(what[1:], 16)) if len(what) == 5 else _LETTERS.get(what, what)

    return _ESCAPE.sub(meant, text)


def sasl_config(properties: Mapping[str, str], password: str | None = None) -> SaslConfig | None:
    """With this password, or else the one that stands in the file."""
    if not _protocol(properties).startswith("SASL_"):
        return None
    mechanism = properties.get("sasl.mechanism", "GSSAPI")  # Kafka's default
    username, written = _login(properties.get("sasl.jaas.config", ""))
    return SaslConfig(mechanism=mechanism, username=username, password=password or written)


def _login(jaas: str) -> tuple[str, str]:
    found = _JAAS.fullmatch(jaas)
    if found is None or not _LOGIN.search(found[1]):
        raise ConfigError(
            "sasl.jaas.config does not hold a PlainLoginModule or ScramLoginModule",
            hint='it reads: ...ScramLoginModule required username="..." password="...";',
        )
    options = {
        option[1]: re.sub(r"\\(.)", r"\1", option[2] or option[3] or "") or option[4] or ""
        for option in _JAAS_OPTION.finditer(found[2])
    }
    return options.get("username", ""), options.get("password", "")


def tls_config(
    properties: Mapping[str, str], folder: Path, key_password: str | None = None
) -> TlsConfig | None:
    """With this password for the key, or else the one that stands in the file."""
    if _protocol(properties) not in ("SSL", "SASL_SSL"):
        return None
    _must_be_pem(properties, "ssl.truststore")
    _must_be_pem(properties, "ssl.keystore")
    chain = properties.get("ssl.keystore.certificate.chain")
    key = properties.get("ssl.keystore.key")
    if bool(chain) != bool(key):
        raise ConfigError(
            "of ssl.keystore.certificate.chain and ssl.keystore.key only one is there",
            hint="give both, or neither",
        )
    return TlsConfig(
        ca_file=_file(properties, "ssl.truststore.location", folder),
        ca_pem=_pem(properties.get("ssl.truststore.certificates", "")) or None,
        certificate_file=_file(properties, "ssl.keystore.location", folder),
        identity_pem=f"{_pem(key)}\n{_pem(chain)}\n" if key and chain else None,
        key_password=key_password or properties.get("ssl.key.password"),
        check_hostname=properties.get("ssl.endpoint.identification.algorithm", "https") != "",
    )


def _protocol(properties: Mapping[str, str]) -> str:
    protocol = properties.get("security.protocol", "PLAINTEXT").strip().upper()
    known = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
    if protocol not in known:
        raise ConfigError(
            f"security.protocol is {protocol!r}", hint=f"choose one of {', '.join(known)}"
        )
    return protocol


def _file(properties: Mapping[str, str], key: str, folder: Path) -> Path | None:
    return folder / properties[key] if properties.get(key) else None


def _pem(text: str) -> str:
    """With its lines, for OpenSSL: Java takes blanks for them, as continued lines leave them."""

    def in_lines(entry: re.Match[str]) -> str:
        return "\n".join(["", entry[1], *wrap("".join(entry[2].split()), 64), entry[3], ""])

    return _PEM.sub(in_lines, text)


def _must_be_pem(properties: Mapping[str, str], store: str) -> None:
    kind = properties.get(f"{store}.type", "JKS").upper()
    if properties.get(f"{store}.location") and kind != "PEM":
        raise ConfigError(
            f"{store}.location is a {kind} file, which rollcall cannot read",
            hint=f"export it as PEM (`openssl pkcs12 -in STORE -nodes`; a JKS first with "
            f"`keytool -importkeystore`) and set {store}.type=PEM",
        )
