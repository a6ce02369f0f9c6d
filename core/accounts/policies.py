"""Which of an organisation's policies is in force for a request."""

from core.decision import Policy
from core.errors import Unprocessable
from core.tenant import Key
from core.workspace import Workspace


def policy_for(workspace: Workspace, key: Key, asked: str | None) -> Policy:
    """The policy that a request asks for, else the key's default.

    Args:
        workspace: The organisation's.
        key: Who asks; it names the policies that it may use.
        asked: The name in the request, or None.

    Raises:
        Unprocessable: `policy_violation`, when the key may not use the one that is asked for, or it is not there.
    """
    usable = [name for name in key.policies if name in workspace.policies]
    if asked is not None and asked not in usable:
        may = f"It may use: {', '.join(usable)}." if usable else "It may use none that is there."
        raise _violation(f"This key may not use the policy {asked!r}. {may}", "routing.policy")
    name = asked if asked is not None else key.policies[0] if key.policies else None
    if name is None:
        raise _violation("This key may use no policy. The operator must give it one.", None)
    if name not in workspace.policies:
        other = f" Name another in 'routing.policy': {', '.join(usable)}." if usable else ""
        raise _violation(
            f"The default policy of this key, {name!r}, is not there any more.{other} "
            "The operator must make it again, or give the key another.",
            None,
        )
    return workspace.policies[name]


def _violation(message: str, param: str | None) -> Unprocessable:
    return Unprocessable(message, param=param, code="policy_violation")
