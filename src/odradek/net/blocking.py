"""A connected socket for a library that brings its own threads: plain, or in TLS."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from odradek.net.tls import ClientTls


def connect_blocking(
    name: str, address: str, port: int, timeout_s: float, *, tls: ClientTls | None = None
) -> socket.socket:
    """To this address of the host of this name; a certificate is held against the name. The time-out is of
    each step, and stays with the socket."""
    plain = socket.create_connection((address, port), timeout_s)
    try:
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls is None:
            return plain
        return tls.context().wrap_socket(plain, server_hostname=name)
    except OSError:
        plain.close()
        raise
