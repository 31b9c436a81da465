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
def test_any_name_survives_its_escapes(name: str) -> None:
    written = write_name(name)
    assert NAME.fullmatch(written)
    assert "," not in written
    assert read_name(written) == name


def test_commas_and_equal_signs_are_written_as_kafka_does() -> None:
    assert write_name("a,b=c") == "a=2Cb=3Dc"


def test_a_client_first_message_is_read_in_full() -> None:
    first = ClientFirst.parse(b"y,a=al=2Cice,n=al=2Cice,r=fyko+d2lbbFgONRv9qkxdawL,x=1,foo=bar=")
    assert first.username == first.authorization_id == "al,ice"
    assert first.nonce == "fyko+d2lbbFgONRv9qkxdawL"
    assert first.gs2_header == "y,a=al=2Cice,"
    assert first.bare == "n=al=2Cice,r=fyko+d2lbbFgONRv9qkxdawL,x=1,foo=bar="
    assert first.extensions == {"x": "1", "foo": "bar="}


def test_extensions_of_a_client_final_message_are_signed_with_it() -> None:
    final = ClientFinal.parse(b"c=biws,r=abc,x=1,p=cHJvb2Y=")
    assert final.without_proof == "c=biws,r=abc,x=1"
    assert (final.channel_binding, final.nonce, final.proof) == (b"n,,", "abc", b"proof")


def test_a_server_first_message_may_have_extensions() -> None:
    first = ServerFirst.parse(b"r=abc,s=c2FsdA==,i=4096,x=1")
    assert (first.nonce, first.salt, first.iterations) == ("abc", b"salt", 4096)


@pytest.mark.parametrize(
    ("token", "cause"),
    [
        (b"", "does not begin"),
        (b"n,", "does not begin"),
        (b"z,,n=user,r=abc", "does not begin"),
        (b"n=user,r=abc", "does not begin"),
        (b"p=tls-unique,,n=user,r=abc", "channel binding"),
        (b"n,x=user,n=user,r=abc", "authorization id"),
        (b"n,a=,n=user,r=abc", "malformed authorization id"),
        (b"n,,", "lacks its username"),
        (b"n,,n=user", "lacks its nonce"),
        (b"n,,r=abc,n=user", "lacks its username"),
        (b"n,,n=,r=abc", "malformed username"),
        (b"n,,n=us=er,r=abc", "malformed username"),
        (b"n,,n=us=2cer,r=abc", "malformed username"),
        (b"n,,n=us\0er,r=abc", "malformed username"),
        (b"n,,n=user,r=", "malformed nonce"),
        (b"n,,n=user,r=a c", "malformed nonce"),
        (b"n,,n=user,r=\xc3\xa4", "malformed nonce"),
        (b"n,,m=must,n=user,r=abc", "demands an extension"),
        (b"n,,n=user,r=abc,", "no extension"),
        (b"n,,n=user,r=abc,x", "no extension"),
        (b"n,,n=user,r=abc,x=", "no extension"),
        (b"n,,n=user,r=abc,1=2", "no extension"),
        (b"n,,n=\xff,r=abc", "not UTF-8"),
    ],
)
def test_a_malformed_client_first_message_is_refused_with_its_cause(
    token: bytes, cause: str
) -> None:
    with pytest.raises(AuthenticationFailed, match=cause):
        ClientFirst.parse(token)


@pytest.mark.parametrize(
    ("token", "cause"),
    [
        (b"", "lacks its nonce"),
        (b"r=abc", "lacks its salt"),
        (b"r=abc,i=4096,s=c2FsdA==", "lacks its salt"),
        (b"r=abc,s=c2FsdA==", "lacks its iteration count"),
        (b"r=abc,s=,i=4096", "malformed salt"),
        (b"r=abc,s=c2FsdA,i=4096", "not base64"),
        (b"r=abc,s=c2Fs*dA=,i=4096", "not base64"),
        (b"r=abc,s=c2FsdB==,i=4096", "not base64"),
        (b"r=abc,s=====,i=4096", "not base64"),
        (b"r=abc,s=\xc3\xa4,i=4096", "not base64"),
        (b"r=abc,s=c2FsdA==,i=", "malformed iteration count"),
        (b"r=abc,s=c2FsdA==,i=-4096", "malformed iteration count"),
        (b"r=abc,s=c2FsdA==,i=04096", "malformed iteration count"),
        (b"r=abc,s=c2FsdA==,i=4_096", "malformed iteration count"),
        ("r=abc,s=c2FsdA==,i=4\N{ARABIC-INDIC DIGIT ZERO}96".encode(), "malformed iteration count"),
        (b"r=abc,s=c2FsdA==,i=" + b"9" * 5000, "malformed iteration count"),
        (b"m=must,r=abc,s=c2FsdA==,i=4096", "demands an extension"),
        (b"r=abc,s=c2FsdA==,i=4096,?", "no extension"),
    ],
)
def test_a_malformed_server_first_message_is_refused_with_its_cause(
    token: bytes, cause: str
) -> None:
    with pytest.raises(AuthenticationFailed, match=cause):
        ServerFirst.parse(token)


@pytest.mark.parametrize(
    ("token", "cause"),
    [
        (b"", "lacks its channel binding"),
        (b"p=cHJvb2Y=", "lacks its channel binding"),
        (b"c=biws,r=abc", "lacks its nonce"),
        (b"c=biws,p=cHJvb2Y=", "lacks its nonce"),
        (b"c=biws,r=abc,x=1", "lacks its proof"),
        (b"r=abc,c=biws,p=cHJvb2Y=", "lacks its channel binding"),
        (b"c=biws,r=abc,p=cHJvb2Y", "not base64"),
        (b"c=biws,r=abc,p=cHJvb2Z=", "not base64"),
        (b"c=bi*s,r=abc,p=cHJvb2Y=", "not base64"),
        (b"c=biws,r=abc,p=cHJvb2Y=,x=1", "lacks its proof"),
    ],
)
def test_a_malformed_client_final_message_is_refused_with_its_cause(
    token: bytes, cause: str
) -> None:
    with pytest.raises(AuthenticationFailed, match=cause):
        ClientFinal.parse(token)


@pytest.mark.parametrize(
    ("token", "cause"),
    [
        (b"", "lacks its signature"),
        (b"x=1", "lacks its signature"),
        (b"v=", "malformed signature"),
        (b"v=c2ln!", "not base64"),
        (b"v=c2ln,!", "no extension"),
        (b"e=invalid-proof", "refused: invalid-proof"),
    ],
)
def test_a_malformed_server_final_message_is_refused_with_its_cause(
    token: bytes, cause: str
) -> None:
    with pytest.raises(AuthenticationFailed, match=cause):
        parse_server_final(token)


def test_what_a_server_makes_up_as_its_error_is_not_repeated() -> None:
    with pytest.raises(AuthenticationFailed) as failure:
        parse_server_final(b"e=\x1b[2Jyour password was pencil")
    assert "pencil" not in str(failure.value)
    assert "\x1b" not in str(failure.value)
