"""The operator's view of decisions."""

from collections.abc import Mapping

from core.administration.office import Office
from core.chat import Json
from core.recorded import record_id, recorded_usage, there
from core.surfaces.decision import recorded_decision


async def decision(office: Office, response_id: str) -> Mapping[str, Json]:
    """A decision of any organisation's, by either form of its id, with the hosts that were called.

    Raises:
        NotFound: There is none of that id.
    """
    record = there(await office.store.any_record(record_id(response_id)))
    shown = recorded_decision(record, recorded_usage(record), with_hosts=True)
    return {**shown, "organisation": record.org, "key_id": record.key_id}
