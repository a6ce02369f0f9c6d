"""The gateway under uvicorn, one worker, as a server runs it: authentication, routing, pricing and ledger on."""

import uvicorn

from bench.gateway.child import listener
from functions.gateway.compose import Gateway
from functions.local.serving import AnnouncedServer
from functions.local.transport import ServerTransport
from functions.settings import environment, read_settings

if __name__ == "__main__":
    variables = environment()
    gateway = Gateway(read_settings(variables), variables, transport=ServerTransport, keeps_up=True)
    config = uvicorn.Config(gateway.app, log_level="warning", access_log=False, lifespan="on")
    AnnouncedServer(config, lambda: None).run(sockets=[listener()])
