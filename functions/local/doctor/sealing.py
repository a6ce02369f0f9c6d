"""Can what must not be kept readable be sealed, and opened again?"""

from collections.abc import Sequence
from pathlib import Path

from core.errors import StoreUnavailable
from core.kept import Place
from core.ports import Sealer
from functions.local.doctor.files import check_privacy, is_there
from functions.local.doctor.finding import Finding, fail, fine, warn

ABOUT = "sealing"
_PLACE = Place("headrace-doctor", "doctor", "probe")
_PROBE = b"headrace doctor"


async def check_sealing(sealer: Sealer | None, key_file: Path | None) -> Sequence[Finding]:
    """Seal something and open it again.

    Args:
        sealer: What seals here, or None.
        key_file: Where its keys lie on this machine, None where they lie elsewhere.
    """
    if sealer is None:
        do = "Set HEADRACE_KMS_KEY for own provider keys, kept answers and the thinking of tool turns."
        return [warn(ABOUT, "there is no key to seal with", do)]
    if key_file is not None and not is_there(key_file):
        return [fine(ABOUT, f"{key_file} is made when it is first needed")]
    try:
        opened = await sealer.open(await sealer.seal(_PROBE, _PLACE), _PLACE)
    except StoreUnavailable as error:
        return [fail(ABOUT, error.detail, "Do what the message says; nothing can be sealed or opened until then.")]
    if opened != _PROBE:
        return [fail(ABOUT, "what was sealed came out as something else", "Name another key.")]
    exposed = [] if key_file is None else check_privacy(ABOUT, key_file)
    return [fine(ABOUT, "what is sealed can be opened"), *exposed]
