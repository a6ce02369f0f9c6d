"""How an entry point tells the application when its platform ends the request."""

from typing import Final

DEADLINE: Final = "headrace.deadline"
"""Key of the ASGI scope: when Lambda ends this invocation, in Unix seconds, as a float."""
