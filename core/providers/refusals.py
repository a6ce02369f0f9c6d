"""What decides whether a target refuses a request, so that targets which are alike are asked once, together.

The decision itself is made in `fields`.
"""

from collections.abc import Hashable
from typing import Final

from core.catalog.model import StructuredOutput, Target
from core.providers.fields import ESSENTIAL, Fields

REFUSABLE: Final = ESSENTIAL | {"messages[].content[].file.file_id"}
"""The fields that some target refuses."""


def refusable(fields: Fields) -> Fields:
    """Those of a request's fields that some target refuses."""
    return {name: value for name, value in fields.items() if name in REFUSABLE}


def refusal_traits(target: Target) -> Hashable:
    """All that the refusals of a target depend on: targets with equal traits refuse the same."""
    can = target.model.abilities
    refuses = can.refuses | target.host.refuses | target.vendor.refuses
    return (
        target.vendor.format,
        refuses & REFUSABLE,
        (can.vision, can.documents, can.audio_input, can.audio_output),
        (can.tools, can.forced_tools, can.choices),
        (can.json_mode, can.structured_output is StructuredOutput.NONE),
    )
