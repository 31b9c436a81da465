"""The layouts of the proposals as byte vectors typed from their pages, read and written.

A vector is hexadecimal with a comment for each field. Quoted text stands for its bytes.
"""

import re

import pytest

from rollcall.protocol.dialects import dialect
from rollcall.protocol.errors import LocalProtocolError, RemoteProtocolError
from rollcall.protocol.framing import frame
from rollcall.protocol.headers import (
    read_request,
    request_header_version,
    response_body_offset,
    response_header_version,
    write_request,
    write_response,
)
from rollcall.protocol.messages import Message

RELEASED = dialect("released")
KIP = dialect("kip")


def wire(text: str) -> bytes:
    """The bytes of a vector of hexadecimal digits, 'text' and # comments."""
    found = bytearray()
    for line in text.splitlines():
        for quoted, digits in re.findall(r"'([^']*)'|([0-9a-f]+)", line.partition("#")[0]):
            found += quoted.encode() if quoted else bytes.fromhex(digits)
    return bytes(found)


def check(dialect_name: str, name: str, version: int, message: Message, vector: str) -> None:
    codec = dialect(dialect_name).codec(name, version)
    assert codec.encode(message).hex(" ") == wire(vector).hex(" ")
    assert codec.decode(wire(vector)) == message


# KIP-35 and KIP-511: ApiVersions


@pytest.mark.parametrize("dialect_name", ["released", "kip"])
@pytest.mark.parametrize("version", [0, 1, 2])
def test_35_1_api_versions_requests_0_to_2_are_empty(dialect_name: str, version: int) -> None:
    message = RELEASED.message_class("ApiVersionsRequest")()
    check(dialect_name, "ApiVersionsRequest", version, message, "")


@pytest.mark.parametrize("dialect_name", ["released", "kip"])
def test_35_1_api_versions_0_has_an_error_code_and_ranges(dialect_name: str) -> None:
    cls = RELEASED.message_class("ApiVersionsResponse")
    message = cls(
        api_keys=[
            cls.ApiVersion(api_key=3, min_version=0, max_version=11),
            cls.ApiVersion(api_key=18, min_version=0, max_version=3),
        ]
    )
    vector = """
        0000            # ErrorCode: none
        00000002        # two APIs
        0003 0000 000b  # Metadata 0-11
        0012 0000 0003  # ApiVersions 0-3
    """
    check(dialect_name, "ApiVersionsResponse", 0, message, vector)


def test_35_1_api_versions_1_has_the_throttle_time_after_the_ranges() -> None:
    cls = RELEASED.message_class("ApiVersionsResponse")
    vector = """
        0023      # ErrorCode: UNSUPPORTED_VERSION
        00000000  # no APIs
        00000064  # ThrottleTimeMs: 100
    """
    for version in (1, 2):
        message = cls(error_code=35, throttle_time_ms=100)
        check("kip", "ApiVersionsResponse", version, message, vector)


@pytest.mark.parametrize("dialect_name", ["released", "kip"])
def test_511_1_api_versions_request_3_has_the_client_software(dialect_name: str) -> None:
    message = RELEASED.message_class("ApiVersionsRequest")(
        client_software_name="apache-kafka-java", client_software_version="2.4.0"
    )
    vector = """
        12 'apache-kafka-java'  # ClientSoftwareName: 17 bytes, and one more
        06 '2.4.0'              # ClientSoftwareVersion
        00                      # no tags
    """
    check(dialect_name, "ApiVersionsRequest", 3, message, vector)


def test_511_1_an_api_versions_3_request_as_a_frame() -> None:
    api = RELEASED.apis[18]
    message = RELEASED.message_class("ApiVersionsRequest")(
        client_software_name="rdk", client_software_version="2"
    )
    expected = wire("""
        00000018     # 24 bytes follow
        0012         # RequestApiKey: ApiVersions
        0003         # RequestApiVersion
        00000007     # CorrelationId
        0006 'rdkafk'  # ClientId: in the old form, although the header is flexible
        00           # no tags in the header
        04 'rdk'     # ClientSoftwareName
        02 '2'       # ClientSoftwareVersion
        00           # no tags in the body
    """)
    written = frame(write_request(RELEASED, api, 3, 7, "rdkafk", message))
    assert written.hex(" ") == expected.hex(" ")
    request = read_request(expected[4:], RELEASED)
    assert (request.api_key, request.api_version, request.correlation_id) == (18, 3, 7)
    assert request.client_id == "rdkafk"
    assert request.body(RELEASED) == message


@pytest.mark.parametrize("dialect_name", ["released", "kip"])
def test_511_1_api_versions_3_is_flexible(dialect_name: str) -> None:
    cls = RELEASED.message_class("ApiVersionsResponse")
    message = cls(api_keys=[cls.ApiVersion(api_key=18, max_version=3)], throttle_time_ms=1)
    vector = """
        0000               # ErrorCode
        02                 # one API, and one more
        0012 0000 0003 00  # ApiVersions 0-3, no tags
        00000001           # ThrottleTimeMs
        00                 # no tags
    """
    check(dialect_name, "ApiVersionsResponse", 3, message, vector)


@pytest.mark.parametrize("version", range(5))
def test_511_1_api_versions_responses_have_header_0(version: int) -> None:
    api = RELEASED.apis[18]
    assert response_header_version(api, version) == 0
    response = RELEASED.message_class("ApiVersionsResponse")(error_code=35)
    written = b"".join(write_response(RELEASED, api, version, 7, response))
    assert written[:6] == wire(
        "00000007 0023"
    )  # the error code has the same offset in all versions
    assert response_body_offset(RELEASED, api, version, written) == 4


def test_511_1_the_dialect_is_in_a_tagged_field() -> None:
    cls = RELEASED.message_class("ApiVersionsResponse")
    vector = """
        0000      # ErrorCode
        01        # no APIs
        00000000  # ThrottleTimeMs
        01        # one tag
        97b405    # 88599 = 5 * 16384 + 52 * 128 + 23
        04        # its 4 bytes
        04 'kip'  # a compact string
    """
    for dialect_name in ("released", "kip"):
        check(dialect_name, "ApiVersionsResponse", 3, cls(dialect="kip"), vector)


# KIP-700 and KIP-885: DescribeCluster

CLUSTER = RELEASED.message_class("DescribeClusterResponse")
BROKER = CLUSTER.DescribeClusterBroker
DESCRIBED = CLUSTER(
    throttle_time_ms=5,
    cluster_id="abc",
    controller_id=1,
    brokers=[BROKER(broker_id=1, host="h1", port=9092, rack="r"), BROKER(broker_id=2, host="h2")],
    cluster_authorized_operations=8096,
)
HEAD = """
    00000005  # ThrottleTimeMs
    0000      # ErrorCode
    00        # ErrorMessage: null
"""
CLUSTER_AND_CONTROLLER = """
    04 'abc'  # ClusterId
    00000001  # ControllerId
"""
BROKERS = """
    03        # two brokers, and one more
    00000001  # BrokerId
    03 'h1'   # Host
    00002384  # Port
    02 'r'    # Rack
    00        # no tags
    00000002  # BrokerId
    03 'h2'   # Host
    00000000  # Port
    00        # Rack: null
    00        # no tags
"""
OPERATIONS = """
    00001fa0  # ClusterAuthorizedOperations: 8096
    00        # no tags
"""


@pytest.mark.parametrize("dialect_name", ["released", "kip"])
def test_700_1_describe_cluster_0_has_the_layout_of_the_proposal(dialect_name: str) -> None:
    request = RELEASED.message_class("DescribeClusterRequest")
    check(dialect_name, "DescribeClusterRequest", 0, request(), "00 00")
    asking = request(include_cluster_authorized_operations=True)
    check(dialect_name, "DescribeClusterRequest", 0, asking, "01 00")
    vector = HEAD + CLUSTER_AND_CONTROLLER + BROKERS + OPERATIONS
    check(dialect_name, "DescribeClusterResponse", 0, DESCRIBED, vector)


def test_700_2_operations_not_requested_are_the_lowest_number() -> None:
    vector = """
        00000000 0000 00 02 'c' ffffffff 01
        80000000  # ClusterAuthorizedOperations: not requested
        00
    """
    check("kip", "DescribeClusterResponse", 0, CLUSTER(cluster_id="c"), vector)


def test_885_1_describe_cluster_1_has_the_broker_software_after_the_brokers() -> None:
    message = DESCRIBED.replace(broker_software_name="Kafka", broker_software_version="3.4")
    software = """
        06 'Kafka'  # BrokerSoftwareName
        04 '3.4'    # BrokerSoftwareVersion
    """
    vector = HEAD + CLUSTER_AND_CONTROLLER + BROKERS + software + OPERATIONS
    check("kip", "DescribeClusterResponse", 1, message, vector)
    request = RELEASED.message_class("DescribeClusterRequest")()
    check("kip", "DescribeClusterRequest", 1, request, "00 00")


def test_885_1_the_broker_software_can_be_null() -> None:
    vector = HEAD + CLUSTER_AND_CONTROLLER + BROKERS + "00 00" + OPERATIONS
    check("kip", "DescribeClusterResponse", 1, DESCRIBED, vector)


def test_885_1_describe_cluster_0_omits_the_broker_software() -> None:
    message = DESCRIBED.replace(broker_software_name="Kafka")
    written = KIP.codec("DescribeClusterResponse", 0).encode(message)
    assert written == wire(HEAD + CLUSTER_AND_CONTROLLER + BROKERS + OPERATIONS)


def test_885_1_the_broker_software_is_tagged_in_the_released_dialect() -> None:
    message = DESCRIBED.replace(broker_software_name="Kafka", broker_software_version="3.4")
    vector = (
        HEAD
        + "01  # EndpointType: brokers"
        + CLUSTER_AND_CONTROLLER
        + BROKERS
        + """
        00001fa0    # ClusterAuthorizedOperations
        02          # two tags
        b4b305      # 88500 = 5 * 16384 + 51 * 128 + 52
        06          # its 6 bytes
        06 'Kafka'  # BrokerSoftwareName
        b5b305      # 88501
        04          # its 4 bytes
        04 '3.4'    # BrokerSoftwareVersion
        """
    )
    check("released", "DescribeClusterResponse", 1, message, vector)


def test_885_1_describe_cluster_2_as_released_has_fenced_brokers() -> None:
    message = CLUSTER(cluster_id="c", brokers=[BROKER(broker_id=1, host="h", is_fenced=True)])
    vector = """
        00000000  # ThrottleTimeMs
        0000      # ErrorCode
        00        # ErrorMessage
        01        # EndpointType
        02 'c'    # ClusterId
        ffffffff  # ControllerId: none
        02        # one broker
        00000001 02 'h' 00000000 00
        01        # IsFenced
        00        # no tags
        80000000  # ClusterAuthorizedOperations
        00        # no tags
    """
    check("released", "DescribeClusterResponse", 2, message, vector)


# KIP-536: Metadata 10, UpdateMetadata 6 and 7; KIP-700: Metadata 11

METADATA = RELEASED.message_class("MetadataResponse")
STARTED = 1_700_000_000_000


def metadata(**fields: object) -> Message:
    broker = METADATA.MetadataResponseBroker(
        node_id=1, host="h", port=9092, rack="r", start_time_ms=STARTED
    )
    partition = METADATA.MetadataResponsePartition(
        partition_index=3, leader_id=1, leader_epoch=9, replica_nodes=[1, 2], isr_nodes=[1]
    )
    topic = METADATA.MetadataResponseTopic(name="t", partitions=[partition])
    return METADATA(cluster_id="c", controller_id=1, brokers=[broker], topics=[topic], **fields)


METADATA_UP_TO_RACK = """
    00000000  # ThrottleTimeMs
    02        # one broker
    00000001  # NodeId
    02 'h'    # Host
    00002384  # Port
    02 'r'    # Rack
"""
METADATA_TOPICS = """
    02 'c'    # ClusterId
    00000001  # ControllerId
    02        # one topic
    0000      # ErrorCode
    02 't'    # Name
    00        # IsInternal
    02        # one partition
    0000      # ErrorCode
    00000003  # PartitionIndex
    00000001  # LeaderId
    00000009  # LeaderEpoch
    03 00000001 00000002  # ReplicaNodes
    02 00000001           # IsrNodes
    01        # OfflineReplicas: none
    00        # no tags in the partition
    80000000  # TopicAuthorizedOperations
    00        # no tags in the topic
"""
METADATA_OPERATIONS = """
    80000000  # ClusterAuthorizedOperations
    00        # no tags
"""


def test_536_3_metadata_10_has_the_start_time_after_the_rack() -> None:
    vector = (
        METADATA_UP_TO_RACK
        + """
        0000018bcfe56800  # StartTimeMs
        00                # no tags in the broker
        """
        + METADATA_TOPICS
        + METADATA_OPERATIONS
    )
    check("kip", "MetadataResponse", 10, metadata(), vector)


def test_536_3_metadata_9_has_no_start_time_in_the_dialect_kip() -> None:
    written = KIP.codec("MetadataResponse", 9).encode(metadata())
    expected = METADATA_UP_TO_RACK + "00 # no tags" + METADATA_TOPICS + METADATA_OPERATIONS
    assert written.hex(" ") == wire(expected).hex(" ")


def test_536_3_metadata_request_10_is_the_same_as_9() -> None:
    cls = RELEASED.message_class("MetadataRequest")
    message = cls(topics=[cls.MetadataRequestTopic(name="t")], allow_auto_topic_creation=False)
    vector = """
        02      # one topic
        02 't'  # Name, and no TopicId before it
        00      # no tags in the topic
        00      # AllowAutoTopicCreation
        00      # IncludeClusterAuthorizedOperations
        00      # IncludeTopicAuthorizedOperations
        00      # no tags
    """
    for version in (9, 10):
        check("kip", "MetadataRequest", version, message, vector)


def test_536_3_the_start_time_is_tagged_in_the_released_dialect() -> None:
    vector = (
        METADATA_UP_TO_RACK
        + """
        01                # one tag in the broker
        e0a203            # 53600 = 3 * 16384 + 34 * 128 + 96
        08                # its 8 bytes
        0000018bcfe56800  # StartTimeMs
        """
        + METADATA_TOPICS
        + METADATA_OPERATIONS
    )
    check("released", "MetadataResponse", 9, metadata(), vector)


def test_536_4_a_start_time_of_0_is_omitted_in_the_released_dialect() -> None:
    message = METADATA(brokers=[METADATA.MetadataResponseBroker(start_time_ms=0)])
    assert b"\xe0\xa2\x03" not in RELEASED.codec("MetadataResponse", 9).encode(message)


def test_536_3_a_message_read_in_one_dialect_can_be_written_in_the_other() -> None:
    read = KIP.codec("MetadataResponse", 10).decode(
        KIP.codec("MetadataResponse", 10).encode(metadata())
    )
    codec = RELEASED.codec("MetadataResponse", 12)
    assert codec.decode(codec.encode(read)).brokers[0].start_time_ms == STARTED


def test_700_4_metadata_11_has_no_cluster_operations() -> None:
    vector = (
        METADATA_UP_TO_RACK
        + """
        0000018bcfe56800  # StartTimeMs
        00                # no tags in the broker
        """
        + METADATA_TOPICS
        + "00  # no tags, and no ClusterAuthorizedOperations before them"
    )
    check("kip", "MetadataResponse", 11, metadata(), vector)
    request = RELEASED.message_class("MetadataRequest")(
        topics=None, include_topic_authorized_operations=True
    )
    vector = """
        00  # Topics: null, all topics
        01  # AllowAutoTopicCreation
        01  # IncludeTopicAuthorizedOperations, and nothing about the cluster before it
        00  # no tags
    """
    check("kip", "MetadataRequest", 11, request, vector)


UPDATE = RELEASED.message_class("UpdateMetadataRequest")


def update() -> Message:
    partition = UPDATE.UpdateMetadataPartitionState(
        partition_index=3,
        controller_epoch=2,
        leader=1,
        leader_epoch=9,
        isr=[1],
        zk_version=4,
        replicas=[1, 2],
    )
    endpoint = UPDATE.UpdateMetadataEndpoint(port=9092, host="h", listener="L", security_protocol=0)
    broker = UPDATE.UpdateMetadataBroker(
        id=1, endpoints=[endpoint], rack=None, start_time_ms=STARTED
    )
    topic = UPDATE.UpdateMetadataTopicState(topic_name="t", partition_states=[partition])
    return UPDATE(
        controller_id=1,
        controller_epoch=2,
        broker_epoch=5,
        topic_states=[topic],
        live_brokers=[broker],
    )


UPDATE_6 = """
    00000001          # ControllerId
    00000002          # ControllerEpoch
    0000000000000005  # BrokerEpoch
    00000001          # one topic
    0001 't'          # TopicName, and no TopicId
    00000001          # one partition
    00000003          # PartitionIndex
    00000002          # ControllerEpoch
    00000001          # Leader
    00000009          # LeaderEpoch
    00000001 00000001           # Isr
    00000004                    # ZkVersion
    00000002 00000001 00000002  # Replicas
    00000000          # OfflineReplicas
    00000001          # one live broker
    00000001          # Id
    00000001          # one endpoint
    00002384          # Port
    0001 'h'          # Host
    0001 'L'          # Listener
    0000              # SecurityProtocol
    ffff              # Rack: null
    0000018bcfe56800  # StartTimeMs
"""
UPDATE_7 = """
    00000001          # ControllerId
    00000002          # ControllerEpoch
    0000000000000005  # BrokerEpoch
    02                # one topic
    02 't'            # TopicName, and no TopicId
    02                # one partition
    00000003          # PartitionIndex
    00000002          # ControllerEpoch
    00000001          # Leader
    00000009          # LeaderEpoch
    02 00000001           # Isr
    00000004              # ZkVersion
    03 00000001 00000002  # Replicas
    01                # OfflineReplicas
    00                # no tags in the partition
    00                # no tags in the topic
    02                # one live broker
    00000001          # Id
    02                # one endpoint
    00002384          # Port
    02 'h'            # Host
    02 'L'            # Listener
    0000              # SecurityProtocol
    00                # no tags in the endpoint
    00                # Rack: null
    0000018bcfe56800  # StartTimeMs
    00                # no tags in the broker
    00                # no tags
"""


def test_536_3_update_metadata_6_has_the_start_time_and_is_not_flexible() -> None:
    check("kip", "UpdateMetadataRequest", 6, update(), UPDATE_6)
    response = RELEASED.message_class("UpdateMetadataResponse")(error_code=11)
    check("kip", "UpdateMetadataResponse", 6, response, "000b")
    api = KIP.apis[6]
    assert (request_header_version(api, 6), response_header_version(api, 6)) == (1, 0)


def test_536_3_update_metadata_7_is_the_flexible_form_of_6() -> None:
    check("kip", "UpdateMetadataRequest", 7, update(), UPDATE_7)
    response = RELEASED.message_class("UpdateMetadataResponse")(error_code=11)
    check("kip", "UpdateMetadataResponse", 7, response, "000b 00")
    api = KIP.apis[6]
    assert (request_header_version(api, 7), response_header_version(api, 7)) == (2, 1)


def test_536_3_update_metadata_5_omits_the_start_time() -> None:
    written = KIP.codec("UpdateMetadataRequest", 5).encode(update())
    assert written == wire(UPDATE_6)[:-8]


def test_536_3_bytes_of_one_dialect_are_an_error_in_the_other() -> None:
    with pytest.raises(RemoteProtocolError):
        RELEASED.codec("UpdateMetadataRequest", 6).decode(wire(UPDATE_6))
    with pytest.raises(LocalProtocolError):
        KIP.codec("UpdateMetadataRequest", 8)
