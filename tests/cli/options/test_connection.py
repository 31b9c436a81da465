from pathlib import Path

import pytest

from rollcall.cli.options.connection import load_settings
from rollcall.client import Address
from rollcall.errors import ConfigError

FULL = """
bootstrap = ["a:1", "b:2"]
timeout = 4
release = "0.9.0"
client_id = "ops"
avoid = { Metadata = [10, 11] }

[sasl]
mechanism = "SCRAM-SHA-512"
username = "alice"
password = "sesame"

[tls]
ca = "ca.pem"
certificate = "client.pem"
key = "client.key"
key_password = "hush"
check_hostname = false
"""


def write(directory: Path, text: str, name: str = "rollcall.toml") -> Path:
    path = directory / name
    path.write_text(text)
    return path


def test_toml_file_sets_every_setting(tmp_path: Path) -> None:
    settings = load_settings(None, write(tmp_path, FULL), environ={})
    config = settings.config
    assert settings.bootstrap == (Address("a", 1), Address("b", 2))
    assert (config.release, config.client_id, config.broker_timeout) == ("0.9.0", "ops", 4)
    assert config.avoid == {"Metadata": {10, 11}}
    assert config.sasl is not None
    assert (config.sasl.username, config.sasl.password) == ("alice", "sesame")
    assert config.tls is not None
    assert config.tls.ca_file == tmp_path / "ca.pem"
    assert config.tls.key_file == tmp_path / "client.key"
    assert not config.tls.check_hostname


def test_environment_overrides_a_toml_file(tmp_path: Path) -> None:
    environ = {"ROLLCALL_SASL_PASSWORD": "from-env", "ROLLCALL_TLS_KEY_PASSWORD": "key-env"}
    config = load_settings(None, write(tmp_path, FULL), environ=environ).config
    assert config.sasl is not None
    assert config.tls is not None
    assert (config.sasl.password, config.tls.key_password) == ("from-env", "key-env")


@pytest.mark.parametrize("written", ["", ' password="in-the-file"'])
def test_environment_overrides_a_properties_file(tmp_path: Path, written: str) -> None:
    text = (
        "security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nssl.key.password=in-the-file\n"
        "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required "
        f'username="alice"{written};\n'
    )
    path = write(tmp_path, text, "client.properties")
    environ = {"ROLLCALL_SASL_PASSWORD": "from-env", "ROLLCALL_TLS_KEY_PASSWORD": "key-env"}
    config = load_settings("a:1", path, environ=environ).config
    assert config.sasl is not None
    assert config.tls is not None
    assert (config.sasl.password, config.tls.key_password) == ("from-env", "key-env")


def test_options_override_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, FULL)
    settings = load_settings("c:3", path, timeout=1.5, release="0.8.2", environ={})
    assert settings.bootstrap == (Address("c", 3),)
    assert (settings.config.broker_timeout, settings.config.release) == (1.5, "0.8.2")
    assert settings.config.api_versions_timeout == 0.75


def test_bootstrap_servers_are_enough_without_a_file() -> None:
    settings = load_settings("a:1", None, environ={})
    assert settings.config.sasl is None
    assert settings.config.tls is None


def test_properties_file_of_a_java_client_is_accepted(tmp_path: Path) -> None:
    text = (
        "bootstrap.servers=a:1,b:2\nsecurity.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"
        "sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required "
        'username="alice" password="sesame";\nkey.deserializer=x\n'
    )
    settings = load_settings(None, write(tmp_path, text, "client.properties"), environ={})
    assert settings.bootstrap == (Address("a", 1), Address("b", 2))
    assert settings.config.sasl is not None
    assert settings.config.sasl.password == "sesame"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bootstrap = ", "is not valid TOML"),
        ("bootstrap = 5", "bootstrap is 5"),
        ("bootstrap = ['a:1', 5]", "bootstrap is a list"),
        ("bootstrap = { a = 1 }", "bootstrap is a table"),
        ("bootstrp = 'a:1'", "the setting bootstrp is unknown"),
        ("client_id = 5", "client_id is 5"),
        ("release = 0.9", "release is 0.9"),
        ("sasl = 1", "sasl is 1"),
        ("[sasl]\nuser = 'x'", r"the setting sasl\.user is unknown"),
        ("[sasl]\nmechanism = 5", r"sasl\.mechanism is 5"),
        ("[sasl]\nmechanism = 'PLAIN'\nusername = 'a'", "needs a username and a password"),
        ("[tls]\ncafile = 'x'", r"the setting tls\.cafile is unknown"),
        ("[tls]\nca = ['x']", r"tls\.ca is a list"),
        ("[tls]\ncheck_hostname = 'false'", r"tls\.check_hostname is 'false'"),
        ("timeout = 'long'", "timeout is 'long'"),
        ("timeout = -1", "timeout is -1"),
        ("timeout = nan", "timeout is nan"),
        ("timeout = inf", "timeout is inf"),
        ("avoid = 'Metadata'", "avoid is 'Metadata'"),
        ("avoid = ['Metadata']", "avoid is a list"),
        ("avoid = { Metadata = 3 }", r"avoid\.Metadata is 3"),
        ("avoid = { Metadata = ['3'] }", r"avoid\.Metadata is a list"),
        ("", "no bootstrap address"),
    ],
)
def test_error_in_a_file_names_the_setting(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        load_settings(None, write(tmp_path, text), environ={})


@pytest.mark.parametrize("where", ["[sasl]\npassword", "[tls]\nkey_password"])
def test_secret_of_the_wrong_type_is_not_printed(tmp_path: Path, where: str) -> None:
    with pytest.raises(ConfigError, match="password is not a string") as raised:
        load_settings("a:1", write(tmp_path, f"{where} = ['sesame']"), environ={})
    assert "sesame" not in f"{raised.value}{raised.value.hint}"


def test_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        load_settings("a:1", tmp_path / "missing.toml", environ={})
