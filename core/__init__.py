"""The gateway itself: values, formats, routing, money and the walk of one request; it knows no web framework."""
