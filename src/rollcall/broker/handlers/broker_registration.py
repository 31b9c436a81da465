"""BrokerRegistration (62): registers a started node with its endpoints at the controller.

This is Kafka's request, with the start time of KIP-536 in a tagged field.
"""

from uuid import UUID

from rollcall.broker.metadata_cache import Endpoint, LiveBroker
from rollcall.broker.registrations import Registrations
from rollcall.protocol import KIP, Message, dialect

KEY = 62

_Request = dialect(KIP).message_class("BrokerRegistrationRequest")
_Response = dialect(KIP).message_class("BrokerRegistrationResponse")


def build_request(broker: LiveBroker, cluster_id: str, incarnation: UUID) -> Message:
    return _Request(
        broker_id=broker.id,
        cluster_id=cluster_id,
        incarnation_id=incarnation,
        listeners=[
            _Request.Listener(
                name=endpoint.listener,
                host=endpoint.host,
                port=endpoint.port,
                security_protocol=endpoint.security_protocol,
            )
            for endpoint in broker.endpoints
        ],
        rack=broker.rack,
        start_time_ms=broker.start_time_ms,
    )


def handle(body: Message, registrations: Registrations, now: float) -> Message:
    endpoints = tuple(
        Endpoint(entry.name, entry.host, entry.port, entry.security_protocol)
        for entry in body.listeners
    )
    broker = LiveBroker(body.broker_id, endpoints, body.rack, body.start_time_ms)
    error, epoch = registrations.register(broker, body.cluster_id, body.incarnation_id, now)
    return _Response(error_code=error, broker_epoch=epoch)
