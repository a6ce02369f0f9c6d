"""Our own Lambda runtime loop: events in, ASGI app run, responses out as streams while they are being made.

It takes the place of the stock runtime client, which buffers. It never looks into a request or a response body.
"""
