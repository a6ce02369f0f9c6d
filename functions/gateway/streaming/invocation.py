"""One invocation as the Runtime API hands it out, and the context that AWS code expects beside an event."""

from dataclasses import dataclass, field

from mangum.types import LambdaCognitoIdentity, LambdaMobileClientContext

from core.ports import Clock
from functions.gateway.streaming.environment import RuntimeEnvironment
from functions.gateway.streaming.http1 import ConnectionBroken, Reply


@dataclass(frozen=True, slots=True)
class Invocation:
    """What `/next` answered.

    Args:
        request_id: Lambda's id of the request; a retry may use it again.
        deadline: When Lambda ends the invocation, in Unix seconds.
        event: The event, as JSON.
        invocation_id: Unique to this very run; echoed, so that a late answer cannot reach another caller. None where
            Lambda sent none.
        trace_id: X-Ray's header, or None.
    """

    request_id: str
    deadline: float
    event: bytes
    function_arn: str = ""
    invocation_id: str | None = None
    trace_id: str | None = None

    @classmethod
    def from_reply(cls, reply: Reply) -> "Invocation":
        """Read the headers of `/next` (AWS Lambda developer guide, "Runtime API", read 2026-11-30).

        Raises:
            ConnectionBroken: The request id or the deadline is missing: this is no Runtime API.
        """
        headers = reply.headers
        try:
            return cls(
                request_id=headers["lambda-runtime-aws-request-id"],
                deadline=int(headers["lambda-runtime-deadline-ms"]) / 1000,
                event=reply.body,
                function_arn=headers.get("lambda-runtime-invoked-function-arn", ""),
                invocation_id=headers.get("lambda-runtime-invocation-id"),
                trace_id=headers.get("lambda-runtime-trace-id"),
            )
        except (KeyError, ValueError) as error:
            raise ConnectionBroken("/next answered without a request id and a deadline") from error


@dataclass(slots=True)
class InvocationContext:
    """The context object of a handler, for code that looks for it in `scope["aws.context"]`."""

    function_name: str
    function_version: str
    invoked_function_arn: str
    memory_limit_in_mb: int
    aws_request_id: str
    log_group_name: str
    log_stream_name: str
    _deadline: float
    _clock: Clock
    identity: LambdaCognitoIdentity | None = field(default=None, init=False)
    client_context: LambdaMobileClientContext | None = field(default=None, init=False)

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until Lambda ends the invocation; 0 once it has."""
        return max(0, int((self._deadline - self._clock.now()) * 1000))


def context_of(invocation: Invocation, environment: RuntimeEnvironment, clock: Clock) -> InvocationContext:
    """The context of one invocation in this environment."""
    return InvocationContext(
        function_name=environment.function_name,
        function_version=environment.function_version,
        invoked_function_arn=invocation.function_arn,
        memory_limit_in_mb=environment.memory_mb,
        aws_request_id=invocation.request_id,
        log_group_name=environment.log_group,
        log_stream_name=environment.log_stream,
        _deadline=invocation.deadline,
        _clock=clock,
    )
