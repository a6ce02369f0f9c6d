"""The `headrace` command and what it runs on a developer's machine; never part of a deployment."""
