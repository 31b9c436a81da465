"""Reading ClusterConfig from TOML: settings, defaults, and errors with path and hint."""

import tomllib
from pathlib import Path

import pytest
import trustme

from rollcall import __version__
from rollcall.broker import ClusterConfig, Software, parse_config, read_config
from rollcall.broker.authorizer import ALLOW_ALL, CLUSTER_OPERATIONS, Operation
from rollcall.errors import ConfigError
from rollcall.server import (
    ClientAuth,
    OnUnsupported,
    RequestLogFormat,
    RequestLogLevel,
    SecurityProtocol,
)

USERS = 'alice = "wonder land"\nbob = "builder"\n'


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    users = tmp_path / "users.toml"
    users.write_text(USERS, encoding="utf-8")
    users.chmod(0o600)
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    authority.issue_cert("localhost").private_key_and_cert_chain_pem.write_to_path(
        tmp_path / "server.pem"
    )
    return tmp_path


def parsed(text: str, directory: Path = Path(), **overrides: object) -> ClusterConfig:
    return parse_config(tomllib.loads(text), directory, **overrides)


def test_empty_file_is_three_nodes_with_two_listeners() -> None:
    config = parsed("")
    assert config == ClusterConfig()
    assert [(listener.name, listener.dialect) for listener in config.listeners] == [
        ("PLAINTEXT", "released"),
        ("KIP", "kip"),
    ]
    assert config.software_of(1) == Software(name="rollcall", version=__version__)


def test_overrides_take_precedence_over_the_file() -> None:
    config = parsed("brokers = 5\nhost = 'a'", brokers=2, host=None, base_port=4000)
    assert (config.brokers, config.host, config.base_port) == (2, "a", 4000)


def test_listener_with_sasl_and_tls_is_read(directory: Path) -> None:
    config = parsed(
        """
        users = "users.toml"

        [listeners.SASL]
        security_protocol = "SASL_SSL"
        mechanisms = ["PLAIN", "SCRAM-SHA-512"]
        dialect = "kip"
        on_unsupported = "empty"
        port = 9100
        tls = { certificate = "server.pem", key = "server.pem", authorities = "ca.pem",
                client_auth = "required" }
        """.replace(",\n", ","),
        directory,
    )
    listener = config.listeners[-1]
    assert listener.tls is not None
    assert (listener.name, listener.security_protocol) == ("SASL", SecurityProtocol.SASL_SSL)
    assert (listener.dialect, listener.port) == ("kip", 9100)
    assert listener.mechanisms == ("PLAIN", "SCRAM-SHA-512")
    assert listener.on_unsupported is OnUnsupported.EMPTY
    assert listener.tls.certificate == directory / "server.pem"
    assert listener.tls.client_auth is ClientAuth.REQUIRED
    assert config.users == {"alice": "wonder land", "bob": "builder"}


def test_default_listeners_can_be_changed() -> None:
    config = parsed("[listeners.PLAINTEXT]\non_unsupported = 'empty'\nport = 9092")
    assert [listener.name for listener in config.listeners] == ["PLAINTEXT", "KIP"]
    assert config.listeners[0].on_unsupported is OnUnsupported.EMPTY
    assert config.listeners[0].port == 9092


def test_authorizer_applies_to_listeners_with_authorize() -> None:
    config = parsed(
        """
        [authorizer]
        super_users = ["User:root"]
        default = ["DESCRIBE"]
        allow = { "User:alice" = ["ALL"], "User:CN=bob,O=x" = [] }

        [listeners.KIP]
        authorize = false
        """
    )
    rules = config.authorizer
    assert rules is not None
    assert rules.on_cluster("User:alice") == CLUSTER_OPERATIONS
    assert rules.on_cluster("User:CN=bob,O=x") == frozenset()
    assert rules.on_cluster("User:else") == {Operation.DESCRIBE}
    assert rules.super_users == {"User:root"}
    plaintext, kip = config.listeners
    assert config.authorizer_of(plaintext) is rules
    assert config.authorizer_of(kip) is ALLOW_ALL


def test_empty_authorizer_table_is_an_authorizer() -> None:
    assert parsed("[authorizer]\ndefault = []").authorizer is not None
    assert parsed("[authorizer]").authorizer is not None
    assert parsed("").authorizer is None


def test_885_3_software_is_any_text_or_null_for_all_nodes_or_for_one() -> None:
    config = parsed(
        """
        [software]
        name = "Event Hubs"
        version = false

        [nodes.2]
        rack = "b"
        software = { name = false, version = "" }
        """
    )
    assert config.software_of(1) == Software(name="Event Hubs", version=None)
    assert config.software_of(2) == Software(name=None, version="")
    assert (config.rack_of(1), config.rack_of(2)) == (None, "b")


def test_limits_request_log_and_metrics_are_read() -> None:
    config = parsed(
        """
        [limits]
        max_connections = 7
        idle_seconds = 3

        [request_log]
        format = "text"
        level = "INFO"

        [metrics]
        connections_gauge = "kafka_connections"
        max_software = 5
        """
    )
    assert config.metrics.connections_gauge == "kafka_connections"
    assert config.metrics.max_software == 5
    assert (config.limits.max_connections, config.limits.idle_seconds) == (7, 3.0)
    assert (config.log_format, config.log_level) == (RequestLogFormat.TEXT, RequestLogLevel.INFO)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("broker = 3", "the setting broker is unknown", "did you mean brokers?"),
        ("[limits]\nmax = 1", "the setting limits.max is unknown", "use one of"),
        (
            "[listeners.A]\nsecurity_protocl = 'SSL'",
            "the setting listeners.A.security_protocl is unknown",
            "did you mean listeners.A.security_protocol?",
        ),
        ("brokers = '3'", "brokers is '3'", "it must be an integer"),
        ("brokers = true", "brokers is True", "it must be an integer"),
        ("brokers = 0", "brokers is 0", "use 1 to 100"),
        ("listeners = 3", "listeners is 3", "it must be a table, [listeners]"),
        ("[software]\nname = 3", "software.name is 3", "a string, or false for null"),
        ("[limits]\nidle_seconds = 'x'", "limits.idle_seconds is 'x'", "a number"),
        ("[limits]\nidle_seconds = 0", "[limits] idle_seconds 0.0 is not positive", "more than 0"),
        (
            "[request_log]\nform = 'J'",
            "the setting request_log.form is unknown",
            "request_log.format",
        ),
        ("[request_log]\nlevel = 'LOUD'", "request_log.level is 'LOUD'", "one of INFO, DEBUG"),
        ("[listeners.A]\ndialect = 'x'", "[listeners.A] the dialect 'x' of the listener A", "kip"),
        ("[listeners.INTERNAL]", "the listener name INTERNAL is reserved", "another name"),
        ("[listeners.A]\nmechanisms = ['PLAIN']", "listeners.A.mechanisms is set", "remove it"),
        (
            "[listeners.A]\nsecurity_protocol = 'SASL_PLAINTEXT'\nmechanisms = ['GSSAPI']",
            "listeners.A.mechanisms has ['GSSAPI']",
            "SCRAM-SHA-512",
        ),
        ("[listeners.A]\ntls = {}", "listeners.A.tls is set, but the listener is PLAINTEXT", ""),
        ("[listeners.A]\nsecurity_protocol = 'SSL'", "listeners.A.tls.certificate is missing", ""),
        (
            "[listeners.A]\nsecurity_protocol='SSL'\ntls = {certificate='no.pem', key='no.pem'}",
            "[listeners.A.tls] TLS certificate file",
            "PEM",
        ),
        (
            "[listeners.A]\nsecurity_protocol='SASL_PLAINTEXT'",
            "no users are configured",
            "users.toml",
        ),
        ("[listeners.A]\nrequire_describe = true", "has no authorizer", "[authorizer]"),
        ("[metrics]\nconnections_gauge = 'a-b'", "metrics.connections_gauge is 'a-b'", "letters"),
        ("[metrics]\nmax_software = 0", "metrics.max_software is 0", "1 or more"),
        ("[authorizer]\ndefault = ['READ']", "authorizer.default has 'READ'", "DESCRIBE"),
        ("[authorizer]\ndefault = 'ALL'", "authorizer.default is 'ALL'", "a list of strings"),
        (
            "[authorizer]\nsuper_users = ['root']",
            "authorizer.super_users has 'root'",
            "User:root",
        ),
        ("[authorizer.allow]\nroot = ['ALL']", "authorizer.allow has 'root'", "User:root"),
        ("[nodes.one]\nrack = 'a'", "nodes.one is not a node id", "[nodes.1]"),
        ("[nodes.4]\nrack = 'a'", "node 4 has settings, but the nodes are 1 to 3", "raise"),
        ("host = '0.0.0.0'", "which clients cannot connect to", "advertised_host"),
        ("users = 'missing.toml'", "users file missing.toml cannot be read", "check the path"),
    ],
)
def test_invalid_setting_is_an_error_with_path_and_hint(text: str, message: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parsed(text)
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")


def test_users_file_that_others_can_read_is_rejected(directory: Path) -> None:
    (directory / "users.toml").chmod(0o644)
    with pytest.raises(ConfigError, match="all users can read it") as caught:
        parsed('users = "users.toml"', directory)
    assert "chmod 600" in (caught.value.hint or "")


@pytest.mark.parametrize("text", ["alice = 5", 'alice = ""', "[alice]\nx = 1"])
def test_user_without_a_password_is_an_error(directory: Path, text: str) -> None:
    (directory / "users.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="the user 'alice' has no password"):
        parsed('users = "users.toml"', directory)


def test_error_of_an_invalid_users_file_does_not_show_its_content(directory: Path) -> None:
    (directory / "users.toml").write_text('alice = "sesame\nbob = 1', encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        parsed('users = "users.toml"', directory)
    assert "sesame" not in f"{caught.value.message}{caught.value.hint}"
    assert "line 1" in caught.value.message


@pytest.mark.parametrize("text", ["x", "brokers = ", "a = 1\na = 2"])
def test_file_that_is_not_toml_is_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "cluster.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="is not valid TOML"):
        read_config(path)


def test_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        read_config(tmp_path / "none.toml")


def test_cluster_config_repr_has_no_passwords(directory: Path) -> None:
    assert "wonder land" not in repr(parsed('users = "users.toml"', directory))
