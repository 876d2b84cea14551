"""The listener: connections, timeouts, methods, hosts and paths."""
from rig import Harm, Upstream, attack, harm_if, serving


@attack(13, "CONNECT is forwarded")
def connect():
    with Upstream() as upstream, serving(upstream) as photic:
        photic.raw(b"CONNECT 127.0.0.1:1 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", timeout=3)
        harm_if(upstream.requests, "an upstream was asked")
