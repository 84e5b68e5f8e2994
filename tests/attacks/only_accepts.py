# SPDX-License-Identifier: Apache-2.0
"""The least that a server can do with a connection: a program that accepts each one and closes it.

    only_accepts.py

Prints its port, and ends with its standard input. What a flood of connections costs other clients
beside this program, it costs them on this machine whatever the server does.
"""

import contextlib
import socket
import sys
import threading


def main():
    listener = socket.create_server(("127.0.0.1", 0), backlog=socket.SOMAXCONN)
    print(listener.getsockname()[1], flush=True)

    def serve():
        while True:
            with contextlib.suppress(OSError):
                listener.accept()[0].close()

    threading.Thread(target=serve, daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
