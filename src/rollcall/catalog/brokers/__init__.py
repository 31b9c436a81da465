"""Broker identification: the release of a broker, inferred from its ApiVersions response.

    fingerprints    the lists of API ranges that releases return, and what explains each
    other_products  products that are not Apache Kafka
    result          the observed broker and the inferred release with its evidence
    unmatched       rules for lists that match no release
    identify        the rules in order, and the identity of a broker

Facts about releases are in `catalog.releases`; querying brokers is in `client`.
"""
