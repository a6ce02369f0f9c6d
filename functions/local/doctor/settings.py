"""Are the settings valid, and is each variable that looks like one a setting?"""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from functions.local.doctor.finding import Finding, fail, fine, warn
from functions.settings import PREFIX, Settings, SettingsError, read_settings, unknown_settings

ABOUT = "settings"


def check_settings(variables: Mapping[str, str]) -> tuple[Settings | None, Sequence[Finding]]:
    """The settings, None where they are wrong, and what is to be said of the variables."""
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields}
    strangers = [_stranger(name, known) for name in unknown_settings(variables)]
    try:
        settings = read_settings(variables)
    except SettingsError as error:
        wrong = [fail(ABOUT, line, "Correct the variable; docs/settings.md lists them.") for line in _lines(error)]
        return None, [*wrong, *strangers]
    given = sorted(name for name in known if variables.get(name))
    says = f"{len(given)} set: {', '.join(given)}" if given else "all at their defaults"
    return settings, [fine(ABOUT, says), *strangers]


def _stranger(name: str, known: set[str]) -> Finding:
    near = get_close_matches(name, known, 1)
    do = f"Did you mean {near[0]}?" if near else "Remove it; docs/settings.md lists the settings."
    return warn(ABOUT, f"{name} is not a setting and has no effect", do)


def _lines(error: SettingsError) -> Sequence[str]:
    return str(error).splitlines()
