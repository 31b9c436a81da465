"""Report of what breaks when the brokers are upgraded.

It is not where releases and libraries are known (`rollcall.catalog`).

    findings       values: verdict, reason, finding, judgement
    broker_limits  the maximum version that a broker offered
    superseded     whether accepted versions replaced a refused one
    rules          the rules, in order, from plain values to findings
    judge          the facts about a client, and the rules applied to them
    evidence       the queries that the rules need
    remedies       what to do
    owners         the owner of a client, from a CSV file
    report         the report

Other packages import the values from `rollcall.reports`.
"""
