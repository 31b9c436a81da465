import pickle

from rollcall.errors import ConfigError, RollcallError


def test_an_error_has_a_message_and_an_optional_hint() -> None:
    error = ConfigError("port is 99999", hint="use 1 to 65535")
    assert isinstance(error, RollcallError)
    assert (str(error), error.message, error.hint) == (
        "port is 99999",
        "port is 99999",
        "use 1 to 65535",
    )
    assert RollcallError("no hint").hint is None


def test_an_error_survives_pickling() -> None:
    error = pickle.loads(pickle.dumps(RollcallError("broken", hint="fix it")))
    assert (error.message, error.hint) == ("broken", "fix it")
