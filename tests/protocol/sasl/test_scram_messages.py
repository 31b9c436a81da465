"""The four SCRAM messages: valid ones, and errors for malformed ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollcall.protocol.sasl import AuthenticationFailed
from rollcall.protocol.sasl.scram_messages import (
    NAME,
    ClientFinal,
    ClientFirst,
    ServerFirst,
    parse_server_final,
    read_name,
    write_name,
)


@given(st.text(st.characters(exclude_characters="\0"), min_size=1) | st.text("=,2C3D", min_size=1))
def test_an_escaped_name_survives_a_round_trip(name: str) -> None:
    written = write_name(name)
    assert NAME.fullmatch(written)
    assert "," not in written
    assert read_name(written) == name


def test_commas_and_equal_signs_are_escaped_as_in_kafka() -> None:
    assert write_name("a,b=c") == "a=2Cb=3Dc"


def test_client_first_parses_all_parts() -> None:
    first = ClientFirst.parse(b"y,a=al=2Cice,n=al=2Cice,r=fyko+d2lbbFgONRv9qkxdawL,x=1,foo=bar=")
    assert first.username == first.authorization_id == "al,ice"
    assert first.nonce == "fyko+d2lbbFgONRv9qkxdawL"
    assert first.gs2_header == "y,a=al=2Cice,"
    assert first.bare == "n=al=2Cice,r=fyko+d2lbbFgONRv9qkxdawL,x=1,foo=bar="
    assert first.extensions == {"x": "1", "foo": "bar="}


def test_client_final_includes_extensions_in_the_signed_part() -> None:
    final = ClientFinal.parse(b"c=biws,r=abc,x=1,p=cHJvb2Y=")
    assert final.without_proof == "c=biws,r=abc,x=1"
    assert (final.channel_binding, final.nonce, final.proof) == (b"n,,", "abc", b"proof")


def test_server_first_can_have_extensions() -> None:
    first = ServerFirst.parse(b"r=abc,s=c2FsdA==,i=4096,x=1")
    assert (first.nonce, first.salt, first.iterations) == ("abc", b"salt", 4096)


@pytest.mark.parametrize(
    ("token", "cause"),
    [
        (b"", "GS2 header"),
        (b"n,", "GS2 header"),
        (b"z,,n=user,r=abc", "GS2 header"),
        (b"n=user,r=abc", "GS2 header"),
        (b"p=tls-unique,,n=user,r=abc", "channel binding"),
        (b"n,x=user,n=user,r=abc", "authorization id"),
        (b"n,a=,n=user,r=abc", "malformed authorization id"),
        (b"n,,", "has no username"),
        (b"n,,n=user", "has no nonce"),
        (b"n,,r=abc,n=user", "has no username"),
        (b"n,,n=,r=abc", "malformed username"),
        (b"n,,n=us=er,r=abc", "malformed username"),
        (b"n,,n=us=2cer,r=abc", "malformed username"),
        (b"n,,n=us\0er,r=abc", "malformed username"),
        (b"n,,n=user,r=", "malformed nonce"),
        (b"n,,n=user,r=a c", "malformed nonce"),
        (b"n,,n=user,r=\xc3\xa4", "malformed nonce"),
        (b"n,,m=must,n=user,r=abc", "requires an unknown extension"),
        (b"n,,n=user,r=abc,", "not an extension"),
        (b"n,,n=user,r=abc,x", "not an extension"),
        (b"n,,n=user,r=abc,x=", "not an extension"),
        (b"n,,n=user,r=abc,1=2", "not an extension"),
        (b"n,,n=\xff,r=abc", "not UTF-8"),
    ],
)
def test_client_first_rejects_a_malformed_message_with_the_cause(token: bytes, cause: str) -> None:
    with pytest.raises(AuthenticationFailed, match=cause):
        ClientFirst.parse(token)


@pytest.mark.parametrize(
    ("token", "cause"),
    [
        (b"", "has no nonce"),
        (b"r=abc", "has no salt"),
        (b"r=abc,i=4096,s=c2FsdA==", "has no salt"),
        (b"r=abc,s=c2FsdA==", "has no iteration count"),
        (b"r=abc,s=,i=4096", "malformed salt"),
        (b"r=abc,s=c2FsdA,i=4096", "not canonical base64"),
        (b"r=abc,s=c2Fs*dA=,i=4096", "not canonical base64"),
        (b"r=abc,s=c2FsdB==,i=4096", "not canonical base64"),
        (b"r=abc,s=====,i=4096", "not canonical base64"),
        (b"r=abc,s=\xc3\xa4,i=4096", "not canonical base64"),
        (b"r=abc,s=c2FsdA==,i=", "malformed iteration count"),
        (b"r=abc,s=c2FsdA==,i=-4096", "malformed iteration count"),
        (b"r=abc,s=c2FsdA==,i=04096", "malformed iteration count"),
        (b"r=abc,s=c2FsdA==,i=4_096", "malformed iteration count"),
        ("r=abc,s=c2FsdA==,i=4\N{ARABIC-INDIC DIGIT ZERO}96".encode(), "malformed iteration count"),
        (b"r=abc,s=c2FsdA==,i=" + b"9" * 5000, "malformed iteration count"),
        (b"m=must,r=abc,s=c2FsdA==,i=4096", "requires an unknown extension"),
        (b"r=abc,s=c2FsdA==,i=4096,?", "not an extension"),
    ],
)
def test_server_first_rejects_a_malformed_message_with_the_cause(token: bytes, cause: str) -> None:
    with pytest.raises(AuthenticationFailed, match=cause):
        ServerFirst.parse(token)


@pytest.mark.parametrize(
    ("token", "cause"),
    [
        (b"", "has no channel binding"),
        (b"p=cHJvb2Y=", "has no channel binding"),
        (b"c=biws,r=abc", "has no nonce"),
        (b"c=biws,p=cHJvb2Y=", "has no nonce"),
        (b"c=biws,r=abc,x=1", "has no proof"),
        (b"r=abc,c=biws,p=cHJvb2Y=", "has no channel binding"),
        (b"c=biws,r=abc,p=cHJvb2Y", "not canonical base64"),
        (b"c=biws,r=abc,p=cHJvb2Z=", "not canonical base64"),
        (b"c=bi*s,r=abc,p=cHJvb2Y=", "not canonical base64"),
        (b"c=biws,r=abc,p=cHJvb2Y=,x=1", "has no proof"),
    ],
)
def test_client_final_rejects_a_malformed_message_with_the_cause(token: bytes, cause: str) -> None:
    with pytest.raises(AuthenticationFailed, match=cause):
        ClientFinal.parse(token)


@pytest.mark.parametrize(
    ("token", "cause"),
    [
        (b"", "has no signature"),
        (b"x=1", "has no signature"),
        (b"v=", "malformed signature"),
        (b"v=c2ln!", "not canonical base64"),
        (b"v=c2ln,!", "not an extension"),
        (b"e=invalid-proof", "rejected the login: invalid-proof"),
    ],
)
def test_server_final_rejects_a_malformed_message_with_the_cause(token: bytes, cause: str) -> None:
    with pytest.raises(AuthenticationFailed, match=cause):
        parse_server_final(token)


def test_error_text_of_a_server_is_not_repeated() -> None:
    with pytest.raises(AuthenticationFailed) as failure:
        parse_server_final(b"e=\x1b[2Jyour password was pencil")
    assert "pencil" not in str(failure.value)
    assert "\x1b" not in str(failure.value)
