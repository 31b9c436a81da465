"""Client identification: the library of a client, its application, and its compatibility.

    libraries      known client libraries, from data/libraries.json
    signatures     comparison of a client's API versions with those of known libraries
    identify       the library of a client, reported or inferred
    compatibility  what a target release means for a library version
    applications   the application name in a client id

Observing clients is in `pipeline`, `server` and `gateway`; reports on them are in `reports`.
"""
