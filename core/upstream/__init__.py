"""The way out: HTTP to upstreams and to remote media; the only part of the core that opens sockets."""
