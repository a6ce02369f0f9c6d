"""What operators do: the use cases behind `/admin/v1` and the `headrace` command."""
