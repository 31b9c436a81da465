import pickle

from rollcall.errors import ConfigError, RollcallError


def test_an_error_is_its_message_and_the_hint_stands_beside_it() -> None:
    error = ConfigError("port is 99999", hint="use 1 to 65535")
    assert isinstance(error, RollcallError)
    assert (str(error), error.message, error.hint) == (
        "port is 99999",
        "port is 99999",
        "use 1 to 65535",
    )
    assert RollcallError("no hint").hint is None


def test_an_error_crosses_processes_whole() -> None:
    error = pickle.loads(pickle.dumps(RollcallError("gone", hint="come back")))
    assert (error.message, error.hint) == ("gone", "come back")
