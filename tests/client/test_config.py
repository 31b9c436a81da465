from pathlib import Path

import pytest
import trustme

from rollcall.catalog import UnknownReleaseError
from rollcall.client import ClientConfig, SaslConfig, TlsConfig
from rollcall.errors import ConfigError


def test_client_config_repr_has_no_secrets() -> None:
    config = ClientConfig(
        sasl=SaslConfig(mechanism="PLAIN", username="alice", password="sesame"),
        tls=TlsConfig(ca_pem="CAPEM", identity_pem="KEYPEM", key_password="hush"),
    )
    shown = repr(config)
    assert "alice" in shown
    assert not any(secret in shown for secret in ("sesame", "KEYPEM", "hush"))


def test_client_config_rejects_nan_as_a_timeout() -> None:
    with pytest.raises(ConfigError, match="broker_timeout is nan"):
        ClientConfig(broker_timeout=float("nan"))


@pytest.mark.parametrize("name", ["request_timeout", "parallel", "rounds", "broker_timeout"])
def test_client_config_rejects_0(name: str) -> None:
    with pytest.raises(ConfigError, match=f"{name} is 0"):
        ClientConfig(**{name: 0})  # type: ignore[arg-type]


def test_client_config_rejects_an_unknown_release() -> None:
    with pytest.raises(UnknownReleaseError):
        ClientConfig(release="17.4")


def test_client_config_rejects_an_unknown_api_to_avoid() -> None:
    with pytest.raises(ConfigError, match="Metadatta"):
        ClientConfig(avoid={"Metadatta": frozenset({1})})


@pytest.mark.parametrize(
    "settings",
    [
        {"mechanism": "GSSAPI", "username": "a", "password": "b"},
        {"mechanism": "PLAIN", "username": "", "password": "b"},
        {"mechanism": "PLAIN", "username": "a", "password": ""},
    ],
)
def test_sasl_config_rejects_invalid_settings(settings: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        SaslConfig(**settings)


def test_tls_config_rejects_a_key_without_a_certificate() -> None:
    with pytest.raises(ConfigError, match="key is set without a certificate"):
        TlsConfig(key_file=Path("key.pem"))


def test_tls_config_error_does_not_show_the_content_of_invalid_files(tmp_path: Path) -> None:
    path = tmp_path / "broken.pem"
    path.write_text("-----BEGIN NONSENSE sesame")
    for tls in (
        TlsConfig(ca_file=path),
        TlsConfig(certificate_file=path),
        TlsConfig(ca_file=tmp_path / "missing.pem"),
        TlsConfig(identity_pem="sesame"),
    ):
        with pytest.raises(ConfigError, match="TLS settings cannot be used") as caught:
            tls.context()
        assert "sesame" not in str(caught.value)


def test_tls_config_removes_the_temporary_file_with_the_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    pem = trustme.CA().issue_cert("c.example").private_key_and_cert_chain_pem.bytes().decode()
    TlsConfig(identity_pem=pem).context()
    assert list(tmp_path.iterdir()) == []
