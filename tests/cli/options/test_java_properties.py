from pathlib import Path

import pytest
import trustme

from rollcall.cli.options.java_properties import parse_properties, sasl_config, tls_config
from rollcall.errors import ConfigError

HERE = Path("conf")
JAAS = 'org.apache.kafka.common.security.scram.ScramLoginModule required username="al\\"ice" '
JAAS += "password='se;sa me=';"


@pytest.mark.parametrize(
    ("line", "pair"),
    [
        ("a=b", ("a", "b")),
        ("a = b ", ("a", "b ")),
        ("a:b", ("a", "b")),
        ("a b c", ("a", "b c")),
        ("  a\t=\tb=c:d", ("a", "b=c:d")),
        ("a=", ("a", "")),
        ("a", ("a", "")),
        (r"a\=b=c", ("a=b", "c")),
        (r"a=\u0041\n\t\\x", ("a", "A\n\t\\x")),
        ("a=b\\\n   c", ("a", "bc")),
        ("a=b\\\\", ("a", "b\\")),
        ("a=\\\n", ("a", "")),
    ],
)
def test_lines_are_parsed_as_in_java(line: str, pair: tuple[str, str]) -> None:
    assert list(parse_properties(line).items()) == [pair]


def test_comments_and_empty_lines_are_ignored() -> None:
    assert parse_properties("# a=1\n! b=2\n\n   \nc=#3\n") == {"c": "#3"}


def test_last_of_two_lines_wins() -> None:
    assert parse_properties("a=1\na=2") == {"a": "2"}


def test_sasl_is_parsed_from_the_jaas_config() -> None:
    sasl = sasl_config(
        {
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.jaas.config": JAAS,
        }
    )
    assert sasl is not None
    assert (sasl.mechanism, sasl.username, sasl.password) == (
        "SCRAM-SHA-512",
        'al"ice',
        "se;sa me=",
    )


def test_sasl_is_ignored_without_a_sasl_protocol() -> None:
    assert sasl_config({"sasl.mechanism": "PLAIN", "sasl.jaas.config": "nonsense"}) is None
    assert tls_config({"ssl.truststore.location": "x.jks"}, HERE) is None


@pytest.mark.parametrize(
    "jaas", ["", "com.sun.security.auth.module.Krb5LoginModule required;", 'x username="a";']
)
def test_other_login_module_is_rejected_without_printing_it(jaas: str) -> None:
    properties = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"}
    with pytest.raises(ConfigError, match=r"sasl\.jaas\.config") as caught:
        sasl_config({**properties, "sasl.jaas.config": jaas})
    assert not jaas or jaas not in str(caught.value)


def test_unsupported_mechanism_is_an_error() -> None:
    with pytest.raises(ConfigError, match="OAUTHBEARER"):
        sasl_config(
            {
                "security.protocol": "SASL_SSL",
                "sasl.mechanism": "OAUTHBEARER",
                "sasl.jaas.config": JAAS,
            }
        )


def test_pem_files_and_texts_are_accepted() -> None:
    tls = tls_config(
        {
            "security.protocol": "SSL",
            "ssl.truststore.type": "PEM",
            "ssl.truststore.location": "ca.pem",
            "ssl.keystore.type": "PEM",
            "ssl.keystore.certificate.chain": "CHAIN",
            "ssl.keystore.key": "KEY",
            "ssl.key.password": "hush",
            "ssl.endpoint.identification.algorithm": "",
        },
        HERE,
    )
    assert tls is not None
    assert tls.ca_file == HERE / "ca.pem"
    assert tls.identity_pem == "KEY\nCHAIN\n"
    assert tls.key_password == "hush"
    assert not tls.check_hostname


@pytest.mark.parametrize("end", [" ", " \\\n", "\\n", "\\n\\\n    "])
def test_pem_text_may_be_on_one_line_or_on_many(end: str) -> None:
    authority = trustme.CA()
    identity = authority.issue_cert("client")
    chain = b"".join(pem.bytes() for pem in identity.cert_chain_pems)
    texts = {
        "ssl.truststore.certificates": authority.cert_pem.bytes(),
        "ssl.keystore.key": identity.private_key_pem.bytes(),
        "ssl.keystore.certificate.chain": chain + authority.cert_pem.bytes(),
    }
    lines = ["security.protocol=SSL"]
    lines += [
        f"{name}={text.decode().strip().replace(chr(10), end)}" for name, text in texts.items()
    ]
    tls = tls_config(parse_properties("\n".join(lines)), Path())
    assert tls is not None
    assert len(tls.context().get_ca_certs()) == 1


@pytest.mark.parametrize("name", ["ssl.keystore.certificate.chain", "ssl.keystore.key"])
def test_key_without_certificate_is_an_error(name: str) -> None:
    with pytest.raises(ConfigError, match="only one of"):
        tls_config({"security.protocol": "SSL", name: "half"}, HERE)


def test_host_name_is_verified_unless_disabled() -> None:
    tls = tls_config({"security.protocol": "SSL"}, HERE)
    assert tls is not None
    assert tls.check_hostname


@pytest.mark.parametrize("store", ["ssl.truststore", "ssl.keystore"])
@pytest.mark.parametrize("kind", [None, "JKS", "PKCS12"])
def test_key_store_that_is_not_pem_is_an_error_with_the_conversion(
    store: str, kind: str | None
) -> None:
    properties = {"security.protocol": "SSL", f"{store}.location": "store.jks"}
    if kind:
        properties[f"{store}.type"] = kind
    with pytest.raises(ConfigError, match="cannot read") as caught:
        tls_config(properties, HERE)
    assert "openssl pkcs12" in str(caught.value.hint)


def test_unknown_protocol_is_an_error() -> None:
    with pytest.raises(ConfigError, match="TLS"):
        sasl_config({"security.protocol": "TLS"})
