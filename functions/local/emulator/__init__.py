"""Lambda without AWS: its Runtime API, function processes that come and go, and a front like API Gateway's REST APIs.

It shares no code with the gateway, so that the same mistake on both sides cannot hide: a function is a command that it
starts. The tests use it too, with faults on demand.
"""
