"""What the catalog tool has to say about a catalog."""

from dataclasses import dataclass
from enum import Enum


class Severity(Enum):
    """How bad a finding is: errors must be mended, warnings known, the rest is for the curious."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing about one field of one model; `model` is empty where it is about no single one."""

    severity: Severity
    model: str
    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.severity.value}: {self.model}: {self.field}: {self.message}"
