"""From TOML to the configuration: what it says is taken, and what is wrong with it has a path."""

import tomllib
from pathlib import Path

import pytest
import trustme

from rollcall import __version__
from rollcall.broker import ClusterConfig, Software, parse_config, read_config
from rollcall.broker.authorizer import CLUSTER_OPERATIONS, EVERYBODY, Operation
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
def folder(tmp_path: Path) -> Path:
    users = tmp_path / "users.toml"
    users.write_text(USERS, encoding="utf-8")
    users.chmod(0o600)
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    authority.issue_cert("localhost").private_key_and_cert_chain_pem.write_to_path(
        tmp_path / "server.pem"
    )
    return tmp_path


def parsed(text: str, folder: Path = Path(), **overrides: object) -> ClusterConfig:
    return parse_config(tomllib.loads(text), folder, **overrides)


def test_an_empty_document_is_three_nodes_with_the_two_listeners() -> None:
    config = parsed("")
    assert config == ClusterConfig()
    assert [(plan.name, plan.dialect) for plan in config.listeners] == [
        ("PLAINTEXT", "released"),
        ("KIP", "kip"),
    ]
    assert config.software_of(1) == Software(name="rollcall", version=__version__)


def test_the_command_line_wins() -> None:
    config = parsed("brokers = 5\nhost = 'a'", brokers=2, host=None, base_port=4000)
    assert (config.brokers, config.host, config.base_port) == (2, "a", 4000)


def test_listeners_with_login_and_tls(folder: Path) -> None:
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
        folder,
    )
    plan = config.listeners[-1]
    assert plan.tls is not None
    assert (plan.name, plan.security_protocol) == ("SASL", SecurityProtocol.SASL_SSL)
    assert (plan.dialect, plan.port) == ("kip", 9100)
    assert plan.mechanisms == ("PLAIN", "SCRAM-SHA-512")
    assert plan.on_unsupported is OnUnsupported.EMPTY
    assert plan.tls.certificate == folder / "server.pem"
    assert plan.tls.client_auth is ClientAuth.REQUIRED
    assert config.users == {"alice": "wonder land", "bob": "builder"}


def test_the_two_listeners_can_be_changed() -> None:
    config = parsed("[listeners.PLAINTEXT]\non_unsupported = 'empty'\nport = 9092")
    assert [plan.name for plan in config.listeners] == ["PLAINTEXT", "KIP"]
    assert config.listeners[0].on_unsupported is OnUnsupported.EMPTY
    assert config.listeners[0].port == 9092


def test_the_authorizer_is_asked_on_every_listener_that_does_not_opt_out() -> None:
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
    assert config.authorizer_of(kip) is EVERYBODY


def test_an_empty_authorizer_allows_nothing() -> None:
    assert parsed("[authorizer]\ndefault = []").authorizer is not None
    assert parsed("[authorizer]").authorizer is not None
    assert parsed("").authorizer is None


def test_885_3_software_is_any_text_or_nothing_for_all_or_for_one_node() -> None:
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


def test_limits_request_log_and_metrics() -> None:
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
        ("broker = 3", "there is no setting broker", "did you mean brokers?"),
        ("[limits]\nmax = 1", "there is no setting limits.max", "known here are"),
        (
            "[listeners.A]\nsecurity_protocl = 'SSL'",
            "there is no setting listeners.A.security_protocl",
            "did you mean listeners.A.security_protocol?",
        ),
        ("brokers = '3'", "brokers is '3'", "it has to be a whole number"),
        ("brokers = true", "brokers is True", "it has to be a whole number"),
        ("brokers = 0", "the cluster has 0 brokers", "use 1 to 100"),
        ("listeners = 3", "listeners is 3", "it has to be a table, [listeners]"),
        ("[software]\nname = 3", "software.name is 3", "text or false for nothing"),
        ("[limits]\nidle_seconds = 'x'", "limits.idle_seconds is 'x'", "a number"),
        ("[limits]\nidle_seconds = 0", "[limits] idle_seconds 0.0 is not positive", "more than 0"),
        ("[request_log]\nform = 'J'", "there is no setting request_log.form", "request_log.format"),
        ("[request_log]\nlevel = 'LOUD'", "request_log.level is 'LOUD'", "one of INFO, DEBUG"),
        ("[listeners.A]\ndialect = 'x'", "[listeners.A] the listener A has the dialect", "kip"),
        ("[listeners.INTERNAL]", "a listener for clients is called INTERNAL", "another name"),
        ("[listeners.A]\nmechanisms = ['PLAIN']", "listeners.A.mechanisms is set", "drop it"),
        (
            "[listeners.A]\nsecurity_protocol = 'SASL_PLAINTEXT'\nmechanisms = ['GSSAPI']",
            "listeners.A.mechanisms has ['GSSAPI']",
            "SCRAM-SHA-512",
        ),
        ("[listeners.A]\ntls = {}", "listeners.A.tls is set, but the listener is PLAINTEXT", ""),
        ("[listeners.A]\nsecurity_protocol = 'SSL'", "there is no listeners.A.tls.certificate", ""),
        (
            "[listeners.A]\nsecurity_protocol='SSL'\ntls = {certificate='no.pem', key='no.pem'}",
            "[listeners.A.tls] TLS certificate file",
            "PEM",
        ),
        ("[listeners.A]\nsecurity_protocol='SASL_PLAINTEXT'", "there are no users", "users.toml"),
        ("[listeners.A]\nrequire_describe = true", "has no authorizer to ask", "[authorizer]"),
        ("[metrics]\nconnections_gauge = 'a-b'", "metrics.connections_gauge is 'a-b'", "letters"),
        ("[metrics]\nmax_software = 0", "metrics.max_software is 0", "1 or more"),
        ("[authorizer]\ndefault = ['READ']", "authorizer.default has 'READ'", "DESCRIBE"),
        ("[authorizer]\ndefault = 'ALL'", "authorizer.default is 'ALL'", "a list of texts"),
        (
            "[authorizer]\nsuper_users = ['root']",
            "authorizer.super_users names 'root'",
            "User:root",
        ),
        ("[authorizer.allow]\nroot = ['ALL']", "authorizer.allow names 'root'", "User:root"),
        ("[nodes.one]\nrack = 'a'", "nodes.one is no node", "[nodes.1]"),
        ("[nodes.4]\nrack = 'a'", "settings for node 4, but the nodes are 1 to 3", "raise"),
        ("host = '0.0.0.0'", "no address to send clients to", "advertised_host"),
        ("users = 'missing.toml'", "users file missing.toml cannot be read", "check the path"),
    ],
)
def test_what_is_wrong_is_told_with_its_path_and_a_hint(text: str, message: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parsed(text)
    assert message in caught.value.message
    assert hint in (caught.value.hint or "")


def test_a_users_file_that_others_can_read_is_refused(folder: Path) -> None:
    (folder / "users.toml").chmod(0o644)
    with pytest.raises(ConfigError, match="everybody can read it") as caught:
        parsed('users = "users.toml"', folder)
    assert "chmod 600" in (caught.value.hint or "")


@pytest.mark.parametrize("text", ["alice = 5", 'alice = ""', "[alice]\nx = 1"])
def test_a_user_needs_a_password(folder: Path, text: str) -> None:
    (folder / "users.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="the user 'alice' has no password"):
        parsed('users = "users.toml"', folder)


def test_a_broken_users_file_does_not_show_what_is_in_it(folder: Path) -> None:
    (folder / "users.toml").write_text('alice = "sesame\nbob = 1', encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        parsed('users = "users.toml"', folder)
    assert "sesame" not in f"{caught.value.message}{caught.value.hint}"
    assert "line 1" in caught.value.message


@pytest.mark.parametrize("text", ["x", "brokers = ", "a = 1\na = 2"])
def test_a_file_that_is_not_toml_is_told_so(tmp_path: Path, text: str) -> None:
    path = tmp_path / "cluster.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match="is not TOML"):
        read_config(path)


def test_a_file_that_is_not_there_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        read_config(tmp_path / "none.toml")


def test_secrets_are_not_in_what_is_shown(folder: Path) -> None:
    assert "wonder land" not in repr(parsed('users = "users.toml"', folder))
