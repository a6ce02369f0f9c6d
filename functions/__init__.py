"""Entry points: each parses its input, calls the service and renders the result."""
