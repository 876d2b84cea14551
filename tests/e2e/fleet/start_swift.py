"""Starts OpenStack Swift with its S3 interface below a directory: DIRECTORY. Prints its port.

One device, one copy of everything, one process a server, all on loopback. Swift reads what is said
in `swift_dir`, so nothing below /etc is touched. The account of the S3 interface is the one that
`start` exports.
"""

import os
import pathlib
import pwd
import socket
import subprocess
import sys
import time

from swift.common.ring import RingBuilder

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from free_port import free_port

DIRECTORY = pathlib.Path(sys.argv[1]) / "swift"
SERVERS = ("account", "container", "object")
DEVICE = "d1"


def defaults(port):
    user = pwd.getpwuid(os.getuid()).pw_name
    return f"""[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
user = {user}
workers = 0
swift_dir = {DIRECTORY}
devices = {DIRECTORY}/devices
mount_check = false
disable_fallocate = true
log_level = ERROR
"""


def storage(server):
    return f"""
[pipeline:main]
pipeline = {server}-server
[app:{server}-server]
use = egg:swift#{server}
"""


PROXY = """
[pipeline:main]
pipeline = catch_errors gatekeeper cache listing_formats bulk s3api tempauth slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
# A machine that is busy with builds is slow, and no copy of anything stands in for it.
conn_timeout = 20
node_timeout = 60
recoverable_node_timeout = 60
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
# Without it, nobody is let in.
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:{cache}
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:bulk]
use = egg:swift#bulk
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
[filter:tempauth]
use = egg:swift#tempauth
user_photic_tester = photic-testing .admin
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
"""


def run(name, *command):
    with open(DIRECTORY / f"{name}.log", "w") as log:
        process = subprocess.Popen(
            command, cwd=DIRECTORY, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    (DIRECTORY.parent / f"swift-{name}.pid").write_text(f"{process.pid}\n")


def serve(server, port, rest):
    configuration = DIRECTORY / f"{server}-server.conf"
    configuration.write_text(defaults(port) + rest)
    run(server, f"/usr/bin/swift-{server}-server", str(configuration))


def wait_for(ports):
    """Until all of them listen: the proxy answers with an error if one of the others does not."""
    end = time.monotonic() + 180
    for port in ports:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=5).close()
                break
            except OSError:
                if time.monotonic() > end:
                    sys.exit("Swift does not listen")
                time.sleep(0.1)


(DIRECTORY / "devices" / DEVICE).mkdir(parents=True, exist_ok=True)
(DIRECTORY / "swift.conf").write_text("""[swift-hash]
swift_hash_path_prefix = photic
swift_hash_path_suffix = photic
[storage-policy:0]
name = one
default = yes
""")
ports = []
for server in SERVERS:
    port = free_port()
    ports.append(port)
    ring = RingBuilder(4, 1, 0)
    ring.add_dev({"region": 1, "zone": 1, "ip": "127.0.0.1", "port": port, "device": DEVICE, "weight": 1})
    ring.rebalance(seed=1)
    ring.get_ring().save(str(DIRECTORY / f"{server}.ring.gz"))
    serve(server, port, storage(server))
cache, proxy = free_port(), free_port()
user = pwd.getpwuid(os.getuid()).pw_name
run("cache", "/usr/bin/memcached", "-l", "127.0.0.1", "-p", str(cache), "-U", "0", "-m", "16", "-u", user)
serve("proxy", proxy, PROXY.format(cache=cache))
wait_for([*ports, cache, proxy])
print(proxy)
