"""What another tenant sent: whether somebody else had a picture must not be told by bytes, time, figures or room.

On a fleet callers are tenants; on a gateway without tenants they are told apart by their keys.
"""
import atexit, base64, contextlib, itertools, json, re, socket, statistics, threading, time, urllib.request

import harness
from fleets import Fleet
from harness import Photic, Upstream, attack, chat_body, harm_if, png

NUMBERS = itertools.count(1)


def wide(height=4, noise=False):
    """A picture that its endpoint does not take as it is: it has to be made smaller, which takes time and is kept."""
    number = next(NUMBERS)
    color = (number % 251, number // 251 % 251, number // 63001)
    return png(8200, height, color, noise=number if noise else None)


def body_of(picture):
    """A request on the wire of an endpoint that limits how long a side may be."""
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(picture).decode()}
    return {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [
        {"role": "user", "content": [{"type": "text", "text": "look"}, {"type": "image", "source": source}]}]}


def result_of(picture):
    """The same for what a tool gave."""
    shown = body_of(picture)["messages"][0]["content"][1]
    return {**body_of(picture), "messages": [
        {"role": "user", "content": "look"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "look", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [shown]}]}]}


def send(world, body, who):
    return world.photic.ask("POST", "/v1/messages", body, who)


class Alone:
    """A gateway without tenants, with a port of its own for operators."""
    one = None

    def __init__(self, settings=""):
        self.upstream, self.admin = Upstream(), harness.free_port()
        self.photic = harness.serving(self.upstream, f"{settings}\n[admin]\nlisten = '127.0.0.1:{self.admin}'\n")
        self.good, self.evil = ({"authorization": f"Bearer sk-{name}"} for name in ("good", "evil"))
        atexit.register(self.close)

    def figures(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.admin}/metrics") as reply:
            return reply.read().decode()

    @classmethod
    def get(cls):
        if cls.one is None:
            cls.one = cls()
        return cls.one

    def close(self):
        self.photic.close()
        self.upstream.close()


class Shared(Alone):
    """A fleet of one replica, with two tenants."""
    one = None

    def __init__(self):
        self.upstream = Upstream()
        self.fleet = Fleet(self.upstream)
        atexit.register(self.close)
        self.photic, self.admin = self.fleet.replicas[0], self.fleet.admins[0]
        self.good, self.evil = ({"x-photic-key": self.fleet.key(name), "authorization": "Bearer sk-shared"}
                                for name in ("good", "evil"))

    def close(self):
        self.fleet.close()
        self.upstream.close()


def figure(text, name):
    """The sum of a counter over its labels."""
    lines = [line for line in text.splitlines() if line.startswith(name) and line[len(name)] in " {"]
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines)


def hits(world):
    return figure(world.figures(), "photic_picture_cache_hits_total")


def misses(world):
    return figure(world.figures(), "photic_picture_cache_misses_total")


def counted(world, body):
    """A picture of one caller costs another as much as a new one: nothing of it is found."""
    world = world.get()
    victim, fresh = body(), body()
    send(world, victim, world.good)
    before = misses(world)
    send(world, victim, world.evil)
    after = misses(world)
    harm_if(after == before, "what was made for the victim was found for the attacker")
    send(world, fresh, world.evil)
    harm_if(misses(world) - after != after - before, "a new picture takes other work than the victim's")
    # Its own it finds again: the cache is there.
    after = misses(world)
    send(world, victim, world.good)
    if misses(world) != after:
        raise RuntimeError("nothing is kept at all")


BODIES = {"a picture": lambda: body_of(wide()), "a picture in a tool's result": lambda: result_of(wide())}


def broken():
    whole = wide(noise=True)
    return whole[:len(whole) // 2] + whole[-12:]


for name in ("a picture", "a picture in a tool's result"):
    for who, world in (("keys", Alone), ("tenants", Shared)):
        attack(11, f"work for {name} is found by another ({who})", world=world, body=BODIES[name])(counted)


# Time.
SAMPLES = 200


def separable(one, other):
    """How well two samples are told apart by one threshold: 0.5 is not at all, 1 (or 0) is always. It is the chance
    that a value of the one is below a value of the other (Mann and Whitney), so it does not depend on how fast the
    machine is, nor on a few values that are far off."""
    below = sum((a < b) + (a == b) / 2 for a in one for b in other)
    return below / (len(one) * len(other))


class Swift:
    """An upstream that answers at once, in one piece: nothing but the gateway takes time."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        body = json.dumps(harness.MESSAGES_REPLY).encode()
        self.reply = (b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
                      + f"content-length: {len(body)}\r\n\r\n".encode() + body)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.socket.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with contextlib.suppress(OSError, ValueError, IndexError):
            while message(connection) is not None:
                connection.sendall(self.reply)

    def close(self):
        self.socket.close()


def message(connection):
    """The next message of a connection: its body, whose length it says."""
    got = b""
    while b"\r\n\r\n" not in got:
        piece = connection.recv(65536)
        if not piece:
            return None
        got += piece
    head, body = got.split(b"\r\n\r\n", 1)
    length = int(re.search(rb"(?i)content-length: *(\d+)", head)[1])
    while len(body) < length:
        body += connection.recv(65536)
    return body


def timed(fleet):
    """What another sent before takes as long as what nobody sent. Samples of the two kinds alternate, so that whatever
    else the machine does meets both alike; they are told apart by no more than 0.1 beyond chance."""
    with contextlib.closing(Swift()) as upstream, contextlib.ExitStack() as ends:
        if fleet:
            several = ends.enter_context(contextlib.closing(Fleet(upstream)))
            photic, names = several.replicas[0], [("x-photic-key", several.key(name)) for name in ("good", "evil")]
        else:
            photic = ends.enter_context(harness.serving(upstream))
            names = [("x-api-key", "sk-good"), ("x-api-key", "sk-evil")]
        connection = ends.enter_context(socket.create_connection(("127.0.0.1", photic.port), timeout=harness.TIMEOUT))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        made = [json.dumps(body_of(wide(height=32))).encode() for _ in range(2 * SAMPLES)]

        def ask(body, name):
            head = (f"POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n{name[0]}: "
                    f"{name[1]}\r\ncontent-length: {len(body)}\r\n\r\n").encode()
            begun = time.perf_counter()
            connection.sendall(head + body)
            message(connection)
            return time.perf_counter() - begun
        for body in made[:SAMPLES]:
            ask(body, names[0])
        known, fresh = [], []
        for number in range(SAMPLES):
            kinds = [(made[number], known), (made[SAMPLES + number], fresh)]
            for body, times in kinds if number % 2 else reversed(kinds):
                times.append(ask(body, names[1]))
    chance = separable(known, fresh)
    said = (f"a picture that somebody sent takes {statistics.median(known) * 1000:.1f} ms, a new one "
            f"{statistics.median(fresh) * 1000:.1f} ms: told apart with {max(chance, 1 - chance):.2f}")
    harm_if(abs(chance - 0.5) > 0.1, said)


attack(11, "time tells what another key sent", fleet=False)(timed)


# Figures.
@attack(11, "figures are shown to callers")
def shown_figures():
    world = Shared.get()
    with Photic(f"{world.fleet.text}\n[[upstream]]\nurl = '{world.upstream.url}'\n", variables=world.fleet.variables) as photic:
        status, _, body = photic.ask("GET", "/metrics")
        harm_if(status == 200 and b"photic_" in body, "anybody reads the figures of all tenants")
        status, _, body = photic.ask("GET", "/metrics", headers=world.evil)
        harm_if(status == 200 and b"photic_" in body, "a tenant reads the figures of all tenants")
        harm_if(not photic.is_well(), "it does not say that it is well")


# Addresses.
class Site(Upstream):
    """Serves pictures, and counts who asks for what."""

    def __init__(self):
        self.fails, self.content = set(), {}
        super().__init__(self.serve)

    def serve(self, request):
        path = request.path
        if path in self.fails:
            return 503, {}, b"later"
        return 200, {"content-type": "image/png"}, self.content.get(path, png(60, 60, (1, 2, 3)))

    def asked(self, path):
        return sum(request.path == path for request in self.requests)


class Fetching(Alone):
    one = None

    def __init__(self):
        self.site = Site()
        super().__init__(f"[fetch]\nmode = 'always'\nprivate = ['127.0.0.1:{self.site.port}']\nkeep_mib = 1\n")

    def address(self):
        return f"/{next(NUMBERS)}.png"

    def look(self, path, who):
        self.photic.chat(chat_body(self.site.url + path), who)
        return json.loads(self.upstream.requests[-1].body)["messages"][0]["content"]


@attack(11, "an address that another had fetched is not fetched again")
def refetched():
    world = Fetching.get()
    path = world.address()
    world.look(path, world.good)
    if not world.site.asked(path):
        raise RuntimeError("nothing is fetched")
    world.look(path, world.evil)
    harm_if(world.site.asked(path) == 1, "the attacker sees that somebody had it fetched: its server is not asked")


@attack(11, "what one caller was served is shown to another")
def served():
    world = Fetching.get()
    path = world.address()
    world.site.content[path] = png(61, 61, (9, 9, 9))
    world.look(path, world.evil)
    world.site.content[path] = png(62, 62, (7, 7, 7))
    seen = json.dumps(world.look(path, world.good))
    harm_if(base64.b64encode(world.site.content[path]).decode() not in seen, "the victim is shown the attacker's picture")


@attack(11, "a fetch that failed for one fails for another")
def failed():
    world = Fetching.get()
    path = world.address()
    world.site.fails.add(path)
    world.look(path, world.evil)
    world.site.fails.clear()
    seen = json.dumps(world.look(path, world.good))
    harm_if("iVBOR" not in seen, "the victim's picture is not fetched for a minute")


@attack(11, "what one caller fetches pushes out another's")
def pushed_out_fetched():
    world = Fetching.get()
    mine = world.address()
    world.look(mine, world.good)
    world.look(mine, world.good)
    if world.site.asked(mine) != 1:
        raise RuntimeError("nothing is kept")
    for _ in range(12):
        path = world.address()
        world.site.content[path] = png(300, 200, noise=next(NUMBERS))
        world.look(path, world.evil)
    world.look(mine, world.good)
    harm_if(world.site.asked(mine) > 1, "the victim's picture was pushed out, and is fetched again")


def pushed_out(world, settings):
    """The victim's picture is sent every turn and made once; whatever another sends must not have it made again."""
    world = world(settings) if settings else world.get()
    mine = body_of(wide())
    send(world, mine, world.good)
    before = hits(world)
    send(world, mine, world.good)
    if hits(world) == before:
        raise RuntimeError("nothing is kept")
    # Among so many pictures sides are shorter, and all of them are made anew: more than there is room for.
    many = body_of(wide())
    parts = many["messages"][0]["content"]
    parts[1:] = [body_of(png(2100, 60, noise=next(NUMBERS)))["messages"][0]["content"][1] for _ in range(24)]
    send(world, many, world.evil)
    before = hits(world)
    send(world, mine, world.good)
    harm_if(hits(world) == before, "the victim's picture was pushed out, and is made again")


attack(11, "what is made for one caller pushes out another's", world=Alone, settings="[limits]\npictures_mib = 1\n")(pushed_out)


@attack(11, "the figures of the cache grow by what others share")
def failures_shared():
    """That a picture cannot be decoded is kept, too: found out once by whoever sent it, and not for others."""
    world = Alone.get()
    body = body_of(broken())
    send(world, body, world.good)
    before = hits(world)
    send(world, body, world.evil)
    harm_if(hits(world) > before, "that the victim sent it is found")
