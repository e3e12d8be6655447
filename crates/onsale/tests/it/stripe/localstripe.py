# localstripe as it is, but on a free port of loopback, which it prints, and without its file of memories.
import socket

from aiohttp import web
from localstripe import resources, server

resources.Store.dump_to_disk = lambda store: None
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
print(listener.getsockname()[1], flush=True)
web.run_app(server.app, sock=listener, print=None)
