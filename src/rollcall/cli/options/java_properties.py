"""Settings from the `.properties` file of a Java client.

Supported are bootstrap.servers, security.protocol, sasl.* (PLAIN and SCRAM) and ssl.* with PEM.
Other keys are ignored. A key store that is not PEM is an error that shows how to convert it.
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
    """Keys and values; comments, continued lines and escapes as in java.util.Properties."""
    properties = {}
    for line in _logical_lines(text):
        pair = _PAIR.fullmatch(line)
        assert pair is not None, "the expression matches any text"
        properties[_unescaped(pair[1])] = _unescaped(pair[2])
    return properties


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
    def character(match: re.Match[str]) -> str:
        escape = match[1]
        return chr(int(escape[1:], 16)) if len(escape) == 5 else _LETTERS.get(escape, escape)

    return _ESCAPE.sub(character, text)


def sasl_config(properties: Mapping[str, str], password: str | None = None) -> SaslConfig | None:
    """SASL settings; `password` overrides the one in the file."""
    if not _protocol(properties).startswith("SASL_"):
        return None
    mechanism = properties.get("sasl.mechanism", "GSSAPI")  # Kafka's default
    username, in_file = _login(properties.get("sasl.jaas.config", ""))
    return SaslConfig(mechanism=mechanism, username=username, password=password or in_file)


def _login(jaas: str) -> tuple[str, str]:
    match = _JAAS.fullmatch(jaas)
    if match is None or not _LOGIN.search(match[1]):
        raise ConfigError(
            "sasl.jaas.config has neither a PlainLoginModule nor a ScramLoginModule",
            hint='use ...ScramLoginModule required username="..." password="...";',
        )
    options = {
        option[1]: re.sub(r"\\(.)", r"\1", option[2] or option[3] or "") or option[4] or ""
        for option in _JAAS_OPTION.finditer(match[2])
    }
    return options.get("username", ""), options.get("password", "")


def tls_config(
    properties: Mapping[str, str], directory: Path, key_password: str | None = None
) -> TlsConfig | None:
    """TLS settings; `key_password` overrides the one in the file."""
    if _protocol(properties) not in ("SSL", "SASL_SSL"):
        return None
    _must_be_pem(properties, "ssl.truststore")
    _must_be_pem(properties, "ssl.keystore")
    chain = properties.get("ssl.keystore.certificate.chain")
    key = properties.get("ssl.keystore.key")
    if bool(chain) != bool(key):
        raise ConfigError(
            "only one of ssl.keystore.certificate.chain and ssl.keystore.key is set",
            hint="set both or neither",
        )
    return TlsConfig(
        ca_file=_file(properties, "ssl.truststore.location", directory),
        ca_pem=_pem(properties.get("ssl.truststore.certificates", "")) or None,
        certificate_file=_file(properties, "ssl.keystore.location", directory),
        identity_pem=f"{_pem(key)}\n{_pem(chain)}\n" if key and chain else None,
        key_password=key_password or properties.get("ssl.key.password"),
        check_hostname=properties.get("ssl.endpoint.identification.algorithm", "https") != "",
    )


def _protocol(properties: Mapping[str, str]) -> str:
    protocol = properties.get("security.protocol", "PLAINTEXT").strip().upper()
    known = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
    if protocol not in known:
        raise ConfigError(
            f"security.protocol {protocol!r} is unknown", hint=f"choose one of {', '.join(known)}"
        )
    return protocol


def _file(properties: Mapping[str, str], key: str, directory: Path) -> Path | None:
    return directory / properties[key] if properties.get(key) else None


def _pem(text: str) -> str:
    """PEM with line breaks for OpenSSL; Java also accepts blanks, from continued lines."""

    def in_lines(entry: re.Match[str]) -> str:
        return "\n".join(["", entry[1], *wrap("".join(entry[2].split()), 64), entry[3], ""])

    return _PEM.sub(in_lines, text)


def _must_be_pem(properties: Mapping[str, str], store: str) -> None:
    kind = properties.get(f"{store}.type", "JKS").upper()
    if properties.get(f"{store}.location") and kind != "PEM":
        raise ConfigError(
            f"cannot read {store}.location, a {kind} file",
            hint="convert it to PEM with `openssl pkcs12 -in STORE -nodes` (a JKS file first with "
            f"`keytool -importkeystore`) and set {store}.type=PEM",
        )
