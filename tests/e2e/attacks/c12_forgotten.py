"""What is left of a tenant: forgetting leaves nothing, and what is put straight into the bucket has a size and an end."""
import atexit, json, threading, time, urllib.error, urllib.request

import harness
from fleets import Fleet
from harness import Upstream, attack, chat_body, harm_if, png, until

PICTURE = png(50, 50, (3, 4, 5))


def put(url, content):
    """Puts bytes under a signed address, as a client does: past the gateway."""
    request = urllib.request.Request(url, content, {"content-type": "application/octet-stream"}, method="PUT")
    try:
        with urllib.request.urlopen(request, timeout=harness.TIMEOUT) as reply:
            return reply.status
    except urllib.error.HTTPError as error:
        return error.code


class Keeping:
    """A fleet, and a tenant of it."""
    one = None

    def __init__(self, settings=""):
        self.upstream = Upstream()
        self.fleet = Fleet(self.upstream, settings=settings)
        atexit.register(self.close)
        self.photic = self.fleet.replicas[0]

    @classmethod
    def get(cls):
        if cls.one is None:
            cls.one = cls()
        return cls.one

    def tenant(self, name):
        return {"x-photic-key": self.fleet.key(name)}

    def sign(self, who, query=""):
        status, _, body = self.photic.ask("POST", f"/photic/v1/uploads{query}", b"", who)
        return status, json.loads(body)

    def claim(self, who, signed):
        status, _, body = self.photic.ask("POST", signed["done"], b"", who)
        return status, json.loads(body)

    def incoming(self):
        return [key for key in self.fleet.objects() if key.startswith("incoming/")]

    def close(self):
        self.fleet.close()
        self.upstream.close()


class Forgotten(Keeping):
    """A tenant that had something of everything, and was forgotten. It takes the better part of a minute, so all
    attempts share it."""
    one = None

    def __init__(self):
        super().__init__()
        gone, self.stays = self.tenant("gone"), self.tenant("stays")

        def refuse(request):
            return (400, {}, {"error": {"message": "this model does not support image input"}}) \
                if b"iVBOR" in request.body else harness.usual_answer(request)
        self.upstream.answer = refuse
        for who in (gone, self.stays):
            self.photic.chat(chat_body(PICTURE, model="blind-model"), who)
        self.upstream.answer = harness.usual_answer
        self.photic.chat(chat_body(PICTURE, model="seeing-model"), gone)
        self.photic.ask("POST", "/photic/v1/media", PICTURE, gone)
        _, waiting = self.sign(gone)
        put(waiting["put"], PICTURE)
        _, taken = self.sign(gone)
        put(taken["put"], PICTURE)
        self.claim(gone, taken)
        put(taken["put"], PICTURE)
        _, self.later = self.sign(gone)
        _, others = self.sign(self.stays)
        put(others["put"], PICTURE)
        self.others = self.incoming()
        self.number = self.fleet.sql("SELECT id FROM tenant WHERE name = 'gone'")
        self.of_others = self.fleet.sql("SELECT id FROM tenant WHERE name = 'stays'")
        until(lambda: self.fleet.sql(f"SELECT count(*) FROM session WHERE tenant = {self.number}") != "0", "turns are kept")
        self.said = self.fleet.command("forget", "gone", "--yes").stdout


@attack(12, "uploads of a forgotten tenant stay in the bucket")
def uploads_stay():
    world = Forgotten.get()
    left = [key for key in world.incoming() if key.split("/")[2] == world.number]
    harm_if(left, f"{len(left)} uploads are left")
    harm_if(not [key for key in world.incoming() if key.split("/")[2] == world.of_others], "another tenant's are gone")


@attack(12, "lessons of a forgotten tenant stay in the fleet's document")
def lessons_stay():
    world = Forgotten.get()
    text = world.fleet.sql("SELECT coalesce(max(text), '') FROM document WHERE name = 'learned'")
    taught = [entry for entry in json.loads(text)["entries"] if entry.get("teacher") in (None, "tenant:gone")]
    harm_if(taught, f"{len(taught)} lessons are left that it taught")


@attack(12, "an address that was signed for a tenant outlives it")
def put_afterwards():
    world = Forgotten.get()
    put(world.later["put"], PICTURE)
    world.fleet.command("retire", "--days", "30")
    left = [key for key in world.incoming() if key.split("/")[2] == world.number]
    harm_if(left, f"{len(left)} uploads are there that belong to nobody, for ever")


@attack(12, "nobody says what is left")
def no_check():
    world = Forgotten.get()
    harm_if("everything but the audit log is deleted" not in world.said, f"it only says: {world.said.strip()}")


@attack(12, "more is signed for than a tenant may keep")
def unbounded():
    world = Keeping.get()
    who = world.tenant("greedy")
    world.fleet.command("limits", "greedy", "--stored", "40")
    signed = [world.sign(who, "?bytes=10000000")[0] for _ in range(12)]
    harm_if(signed.count(201) > 4, f"{signed.count(201)} addresses of 10 MB were signed for a tenant with 40")


@attack(12, "addresses are signed without a size")
def without_size():
    world = Keeping.get()
    who = world.tenant("sizeless")
    world.fleet.command("limits", "sizeless", "--stored", "100")
    signed = [world.sign(who)[0] for _ in range(12)]
    harm_if(signed.count(201) > 4, f"{signed.count(201)} addresses without a size were signed for a tenant with 100 MiB")


@attack(12, "addresses are signed without number")
def without_number():
    world = Keeping.get()
    who = world.tenant("many")
    signed = [world.sign(who, "?bytes=1")[0] for _ in range(300)]
    harm_if(signed.count(201) == 300, "300 were signed, and none was used")


@attack(12, "more is put than was signed for")
def larger():
    world = Keeping.get()
    who = world.tenant("larger")
    _, signed = world.sign(who, "?bytes=1000")
    put(signed["put"], png(300, 300, noise=5))
    status, _ = world.claim(who, signed)
    harm_if(status == 201, "270 kB were taken where 1 kB was signed for")


def goes_in_time(world, tenant, signed):
    """Waits until an upload is late; harm, if it outlives the next sweep."""
    number = world.fleet.sql(f"SELECT id FROM tenant WHERE name = '{tenant}'")
    until(lambda: time.time() * 1000 > signed["expires"] + 100, "its time is over")
    world.fleet.command("retire", "--days", "30")
    left = [key for key in world.incoming() if key.split("/")[2] == number]
    harm_if(left, "it is still there when its time is over")


@attack(12, "what was never taken in stays for ever")
def never_claimed():
    world = Keeping.get()
    who = world.tenant("never")
    _, signed = world.sign(who, "?ttl_s=1")
    put(signed["put"], PICTURE)
    goes_in_time(world, "never", signed)


@attack(12, "what comes after its time is taken in")
def late():
    world = Keeping.get()
    who = world.tenant("late")
    _, signed = world.sign(who, "?ttl_s=1")
    put(signed["put"], PICTURE)
    until(lambda: time.time() * 1000 > signed["expires"] + 100, "its time is over")
    status, _ = world.claim(who, signed)
    harm_if(status == 201, "it was taken in")


@attack(12, "what is put again after it was taken in stays for ever")
def put_again():
    world = Keeping.get()
    who = world.tenant("again")
    _, signed = world.sign(who, "?ttl_s=2")
    put(signed["put"], PICTURE)
    status, _ = world.claim(who, signed)
    if status != 201:
        raise RuntimeError(f"an upload was not taken in: {status}")
    put(signed["put"], PICTURE)
    status, _ = world.claim(who, signed)
    harm_if(status == 201, "it was taken in twice")
    goes_in_time(world, "again", signed)
