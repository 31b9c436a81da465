"""Expected values are the output of Java 17 (X500Principal.getName) for the same certificates."""

from datetime import UTC, datetime

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID, ObjectIdentifier

from rollcall.server.distinguished_name import subject_of

OWN = ObjectIdentifier("1.3.6.1.4.1.99999.1")
KEY = ec.generate_private_key(ec.SECP256R1())


def certificate(names: list[list[tuple[ObjectIdentifier, str]]]) -> bytes:
    subject = x509.Name(
        x509.RelativeDistinguishedName(x509.NameAttribute(*pair) for pair in name) for name in names
    )
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "somebody else")])
    builder = x509.CertificateBuilder(
        issuer_name=issuer,
        subject_name=subject,
        public_key=KEY.public_key(),
        serial_number=1,
        not_valid_before=datetime(2026, 1, 1, tzinfo=UTC),
        not_valid_after=datetime(2027, 1, 1, tzinfo=UTC),
    )
    return builder.sign(KEY, hashes.SHA256()).public_bytes(Encoding.DER)


CASES = [
    (
        [
            [(NameOID.COUNTRY_NAME, "DE")],
            [(NameOID.ORGANIZATION_NAME, "Example")],
            [(NameOID.ORGANIZATIONAL_UNIT_NAME, "data")],
            [(NameOID.COMMON_NAME, "client")],
        ],
        "CN=client,OU=data,O=Example,C=DE",
    ),
    (
        [[(NameOID.COMMON_NAME, ' lead, "quote" + <a=b>; #x \\ trail ')]],
        'CN=\\ lead\\, \\"quote\\" \\+ \\<a\\=b\\>\\; \\#x \\\\ trail\\ ',
    ),
    ([[(NameOID.COMMON_NAME, "   ")]], "CN=\\ \\ \\ "),
    (
        [
            [(NameOID.COMMON_NAME, "Zoë Ω 漢")],
            [(NameOID.EMAIL_ADDRESS, "a@b.c")],
            [(NameOID.SERIAL_NUMBER, "42")],
        ],
        "2.5.4.5=#13023432,1.2.840.113549.1.9.1=#16056140622e63,CN=Zoë Ω 漢",
    ),
    (
        [
            [(NameOID.COMMON_NAME, "multi"), (NameOID.USER_ID, "u1")],
            [(NameOID.DOMAIN_COMPONENT, "example")],
            [(NameOID.STREET_ADDRESS, "st 1")],
            [(NameOID.LOCALITY_NAME, "L")],
            [(NameOID.STATE_OR_PROVINCE_NAME, "S")],
        ],
        "ST=S,L=L,STREET=st 1,DC=example,CN=multi+UID=u1",
    ),
    ([[(NameOID.COMMON_NAME, "two  spaces")], [(OWN, "own")]],
     "1.3.6.1.4.1.99999.1=#0c036f776e,CN=two  spaces"),
    ([[(NameOID.COMMON_NAME, "a\0c")]], "CN=a\\00c"),
    ([[(NameOID.COMMON_NAME, "x")]] * 30, ",".join(["CN=x"] * 30)),
]  # fmt: skip


@pytest.mark.parametrize(("names", "printed"), CASES)
def test_subject_is_formatted_as_in_java(
    names: list[list[tuple[ObjectIdentifier, str]]], printed: str
) -> None:
    assert subject_of(certificate(names)) == printed
