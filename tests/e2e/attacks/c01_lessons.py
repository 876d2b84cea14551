"""Lessons taught to others: one caller makes the gateway believe something about a model, and another one pays.

The upstream refuses what the attacker sends, in words that the attacker chose (it echoes a value) or in its own (the
attacker's account may do less than others'). The attacker's retry succeeds, so a lesson is learned. Harm is done if a
victim, with another key, is then sent to the upstream in another form than if nobody had attacked.
"""
import atexit, base64, itertools, json

import harness
from fleets import Fleet
from harness import attack, harm_if, png, until
from wires import RED, SMALL, WIDE, Provider, key_of, of_wire, pictures

# What the attacker wants to be believed, and a picture of the victim that would be treated otherwise for it.
BLIND = "this model does not support image input"
CLAIMS = {
    "blind": BLIND,
    "none": "At most 0 image(s) may be provided in one request.",
    "one": "At most 1 image(s) may be provided in one request.",
    "edge": "At least one of the image dimensions exceed max allowed size: 16 pixels",
    "bytes": "image exceeds 1 MB maximum: 1048577 bytes > 64 bytes",
    "body": "Request body too large: the maximum request size is 200 bytes",
    "broken": "Could not process image",
    "place": "Image content is not supported in tool messages",
    "detail": "unknown parameter: 'detail' is not supported by this model",
}


def refusing(words, status=400, only=None, until_helped=None):
    """Refuses whoever `only` is while the request holds `until_helped` pictures or more."""
    def rule(request):
        if only and only not in key_of(request):
            return None
        still = pictures(request)
        if until_helped and not until_helped(request, still):
            return None
        if not until_helped and not still:
            return None
        said = words(request) if callable(words) else words
        return status, {}, {"error": {"message": said, "type": "invalid_request_error"}}
    return rule


class World:
    """One gateway that all attempts share: each has a model of its own."""
    one, numbers = None, itertools.count()

    def __init__(self):
        self.provider = Provider()
        self.photic = harness.serving(self.provider)
        atexit.register(self.close)

    @classmethod
    def get(cls):
        if cls.one is None:
            cls.one = cls()
        return cls.one

    def close(self):
        self.photic.close()
        self.provider.close()


def ask(photic, wire, body_and_path, key, headers=None):
    path, body = body_and_path
    if wire in ("chat", "responses", "ollama"):
        keys = {"authorization": f"Bearer {key}"}
    elif wire == "anthropic":
        keys = {"x-api-key": key, "anthropic-version": "2023-06-01"}
    else:
        keys = {"x-goog-api-key": key}
    return photic.ask("POST", path, body, {**keys, **(headers or {})})


def shown(provider, photic, wire, model, key, make, headers=None):
    """What a caller's request looks like at the upstream, at last, and how often it was sent."""
    before = len(provider.seen.get(model, []))
    status, _, _ = ask(photic, wire, make, key, headers)
    sent = provider.seen[model][before:]
    return status, pictures(sent[-1]), len(sent)


def poison(photic, provider, wire, model, make, rule, victim_make, headers=None, attacker="sk-evil", times=1,
           victim="sk-good", victim_photic=None, victim_headers=None):
    """The attack, and what the victim's request looks like against what it would be without one."""
    provider.rules[model] = rule
    for _ in range(times):
        ask(photic, wire, make, attacker, headers)
    if not provider.seen.get(model):
        raise RuntimeError("the attack did not reach the upstream")
    # The victim's own account is not refused anything.
    provider.rules[model] = lambda _: None
    control = f"{model}-untouched"
    path, body = victim_make
    clean = (path.replace(model, control), json.loads(json.dumps(body).replace(f'"{model}"', f'"{control}"')))
    there = victim_photic or photic
    _, wanted, _ = shown(provider, there, wire, control, victim, clean, victim_headers)
    _, got, _ = shown(provider, there, wire, model, victim, victim_make, victim_headers)
    harm_if(len(got) < len(wanted), f"{len(wanted) - len(got)} of {len(wanted)} pictures were withheld from the victim")
    harm_if(got != wanted, "the victim's pictures were changed")


def echoed(value, form):
    """How providers quote what they were sent."""
    return {
        "quoted": f"Invalid value: '{value}'. Supported values are: 'low', 'high', and 'auto'.",
        "plain": f"Unrecognized request argument supplied: {value}",
        "double": f'Bad request: value "{value}" is not allowed here',
        "ticks": f"`{value}` cannot be used",
        "upper": f"INVALID ARGUMENT {value.upper()}",
        "json": json.dumps({"got": value, "message": f"bad value {value}"}),
        "nested": json.dumps({"error": {"message": f"upstream said: {value}"}}),
        "python": "{'error': {'message': '" + value + "', 'code': 400}}",
        "cut": f"Value error, input_value='{value[:200]}...', input_type=str",
        "list": json.dumps([{"loc": ["body", "messages", 0, value], "msg": "extra fields not permitted", "type": value}]),
        "lines": "failed:\n  " + value + "\n",
    }[form]


def echo(wire, where, form="quoted", claim="blind", value=None, header=None, query=None, status=400):
    """An upstream that refuses whatever holds the poison, and says what it was."""
    world = World.get()
    model = f"m{next(World.numbers)}"
    said = CLAIMS[claim]
    sent = value(said) if value else said
    heard = echoed(said if value is None or form != "raw" else sent, form) if form != "raw" else sent
    path, body = of_wire(wire, model, sent if where not in ("header", "query") else "", where)
    headers = {"openai-organization": said} if where == "header" else None
    if where == "query":
        path += "?note=" + said.replace(" ", "%20").replace(":", "%3A").replace("'", "%27")
    wide = (WIDE, SMALL)
    rule = refusing(heard, status, until_helped=helped(claim))
    if claim in ("edge", "bytes", "one"):
        path2, body2 = of_wire(wire, model, sent if where not in ("header", "query") else "", where, wide)
        path, body = path2 if where != "query" else path, body2
    poison(world.photic, world.provider, wire, model, (path, body), rule,
           of_wire(wire, model, pictures=wide if claim != "broken" else (RED, SMALL)), headers)


def helped(claim):
    """When a claim is obeyed: the upstream then succeeds."""
    if claim in ("blind", "none", "detail", "place"):
        return None
    original = {base64.b64encode(one).decode() for one in (RED, SMALL, WIDE)}

    def still(_, found):
        bare = [one.rsplit(",", 1)[-1] for one in found]
        if claim == "one":
            return len(bare) > 1
        if claim == "broken":
            return len(bare) > 1
        return any(one in original for one in bare)
    return still


# What an upstream echoes: values of every kind, on every wire, in every form.
for wire, where in [("chat", "detail"), ("chat", "text"), ("chat", "user"), ("chat", "field"), ("chat", "metadata"),
                    ("chat", "stop"), ("chat", "id"), ("chat", "about"), ("chat", "header"), ("chat", "query"),
                    ("responses", "detail"), ("responses", "text"), ("responses", "field"), ("responses", "about"),
                    ("anthropic", "text"), ("anthropic", "title"), ("anthropic", "field"), ("anthropic", "about"),
                    ("gemini", "text"), ("gemini", "about"), ("ollama", "text")]:
    attack(1, f"echo of {where} on {wire}", wire=wire, where=where)(echo)
for form in ("plain", "double", "ticks", "upper", "json", "nested", "python", "cut", "list", "lines"):
    attack(1, f"echo of detail, {form}", wire="chat", where="detail", form=form)(echo)
for claim in ("none", "one", "edge", "broken"):
    attack(1, f"echo that says {claim}", wire="chat", where="user", claim=claim)(echo)


def escaped(text):
    return "".join(f"\\u{ord(letter):04x}" for letter in text)


attack(1, "echo of an envelope with escaped letters", wire="chat", where="user", form="raw",
       value=lambda said: json.dumps({"error": {"message": "X"}}).replace("X", escaped(said)))(echo)
attack(1, "echo in an answer 500", wire="chat", where="text", status=500)(echo)
attack(1, "echo of a file's name", wire="chat", where="file")(echo)


# The attacker's account may do less than others': true of it, and of nobody else.
def account(wire, words, victim=(WIDE, SMALL), sent=(WIDE, SMALL), claim="blind", **known):
    world = World.get()
    model = f"m{next(World.numbers)}"
    rule = refusing(words, only="sk-evil", until_helped=helped(claim))
    poison(world.photic, world.provider, wire, model, of_wire(wire, model, pictures=sent), rule,
           of_wire(wire, model, pictures=victim), **known)


for wire in ("chat", "responses", "anthropic", "gemini", "ollama"):
    attack(1, f"account without pictures on {wire}", wire=wire, words=BLIND)(account)
for claim in ("none", "one", "edge", "bytes", "body"):
    attack(1, f"account with a limit: {claim}", wire="chat", words=CLAIMS[claim], claim=claim)(account)
attack(1, "a picture refused for one is withheld from another", wire="chat", words=CLAIMS["broken"], claim="broken",
       victim=(RED, SMALL), sent=(RED, SMALL))(account)
attack(1, "the same rejection, again and again", wire="chat", words=BLIND, times=4)(account)


@attack(1, "pictures in tool results, refused for one")
def tool_results():
    world = World.get()
    model = f"m{next(World.numbers)}"

    def make(model):
        encoded = base64.b64encode(RED).decode()
        return "/v1/messages", {"model": model, "max_tokens": 9, "messages": [
            {"role": "user", "content": "look"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "look", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": encoded}}]}]}]}

    def in_result(request, _):
        return any(part.get("type") == "tool_result" and "iVBOR" in json.dumps(part)
                   for message in json.loads(request.body)["messages"] if isinstance(message["content"], list)
                   for part in message["content"])
    world.provider.rules[model] = refusing("messages.2.content.0.tool_result.content.0: image content is not supported "
                                           "in tool messages", only="sk-evil", until_helped=in_result)
    ask(world.photic, "anthropic", make(model), "sk-evil")
    world.provider.rules[model] = lambda _: None
    ask(world.photic, "anthropic", make(model), "sk-good")
    harm_if(not in_result(world.provider.seen[model][-1], None), "the victim's picture was moved")


@attack(1, "billed as text for one")
def billed():
    world = World.get()
    model = f"m{next(World.numbers)}"
    noisy = png(200, 200, noise=7)

    def make(model):
        encoded = base64.b64encode(noisy).decode()
        return "/v1/messages", {"model": model, "max_tokens": 9, "messages": [
            {"role": "user", "content": "look"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "look", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": [
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": encoded}}]}]}]}
    reply = {**harness.MESSAGES_REPLY, "usage": {"input_tokens": 90_000, "output_tokens": 1}}
    world.provider.rules[model] = lambda request: (200, {}, reply) if "sk-evil" in key_of(request) else None
    ask(world.photic, "anthropic", make(model), "sk-evil")

    def moved():
        ask(world.photic, "anthropic", make(model), "sk-good")
        last = json.loads(world.provider.seen[model][-1].body)["messages"][-1]["content"]
        return not any(part.get("type") == "tool_result" and "iVBOR" in json.dumps(part) for part in last)
    # It is learned beside the reply, a moment later.
    for _ in range(30):
        harm_if(moved(), "the victim's picture was moved out of its result")


@attack(1, "a caller without a key teaches those who have one")
def nameless():
    world = World.get()
    model = f"m{next(World.numbers)}"
    provider = world.provider
    provider.rules[model] = refusing(BLIND, until_helped=lambda request, found: found and not key_of(request))
    path, body = of_wire("chat", model)
    world.photic.ask("POST", path, body)
    provider.rules[model] = lambda _: None
    ask(world.photic, "chat", (path, body), "sk-good")
    harm_if(len(pictures(provider.seen[model][-1])) < 2, "the victim's pictures were withheld")


def victim_asks(world, model):
    """Somebody else asks when the endpoint takes everything again; harm, if its pictures are left out."""
    world.provider.rules[model] = lambda _: None
    ask(world.photic, "chat", of_wire("chat", model), "sk-good")
    harm_if(len(pictures(world.provider.seen[model][-1])) < 2, "the victim's pictures were withheld")


@attack(1, "two callers agree")
def two():
    world = World.get()
    model = f"m{next(World.numbers)}"
    world.provider.rules[model] = refusing(BLIND, until_helped=lambda request, found: found and "evil" in key_of(request))
    for key in ("sk-evil", "sk-evil-too"):
        ask(world.photic, "chat", of_wire("chat", model), key)
    victim_asks(world, model)


@attack(1, "keys that the upstream refuses agree")
def refused_keys():
    world = World.get()
    model = f"m{next(World.numbers)}"

    def rule(request):
        if not pictures(request):
            # One of them is known there; the others are made up.
            return None if key_of(request) == "Bearer sk-evil" else (401, {}, {"error": {"message": "wrong key"}})
        return refusing(BLIND)(request)
    world.provider.rules[model] = rule
    for key in ("sk-evil", "sk-made-up-1", "sk-made-up-2", "sk-made-up-3", "sk-made-up-4"):
        ask(world.photic, "chat", of_wire("chat", model), key)
    victim_asks(world, model)


@attack(1, "lessons of one push out another's")
def pushed_out():
    """The victim's own lesson saves it a rejection every turn; seventy of the attacker's must not cost it that."""
    world = World.get()
    model = f"m{next(World.numbers)}"
    mine = png(71, 33, (1, 1, 1))
    bad = {base64.b64encode(mine).decode()}
    world.provider.rules[model] = refusing(CLAIMS["broken"], until_helped=lambda _, found: any(
        one.rsplit(",", 1)[-1] in bad for one in found))
    ask(world.photic, "chat", of_wire("chat", model, pictures=(mine,)), "sk-good")
    for number in range(70):
        other = png(40 + number, 40, (number, 2, 2))
        bad.add(base64.b64encode(other).decode())
        ask(world.photic, "chat", of_wire("chat", model, pictures=(other,)), "sk-evil")
    before = len(world.provider.seen[model])
    ask(world.photic, "chat", of_wire("chat", model, pictures=(mine,)), "sk-good")
    harm_if(len(world.provider.seen[model]) - before > 1, "the victim's lesson was gone: its picture was refused again")


@attack(1, "a second gateway learns it from the file")
def restarted():
    with Provider() as provider, harness.folder() as shared:
        file = f"[learned]\npath = '{shared}/learned.json'\n"
        provider.rules["m"] = refusing(BLIND, only="sk-evil")
        with harness.serving(provider, file) as first:
            ask(first, "chat", of_wire("chat", "m"), "sk-evil")
        provider.rules.clear()
        with harness.serving(provider, file) as second:
            ask(second, "chat", of_wire("chat", "m"), "sk-good")
        harm_if(len(pictures(provider.seen["m"][-1])) < 2, "the victim's pictures were withheld")


@attack(1, "a file of lessons that somebody was able to poison before")
def old_file():
    with Provider() as provider, harness.folder() as shared:
        host = provider.url.removeprefix("http://")
        entry = {"host": host, "model": "m", "lesson": {"kind": "blind", "of": "image"},
                 "evidence": {"at": 1_900_000_000, "status": 400, "said": "no pictures"}}
        (shared / "learned.json").write_text(json.dumps({"version": 1, "entries": [entry]}))
        with harness.serving(provider, f"[learned]\npath = '{shared}/learned.json'\n") as photic:
            ask(photic, "chat", of_wire("chat", "m"), "sk-good")
        harm_if(len(pictures(provider.seen["m"][-1])) < 2, "the victim's pictures were withheld")


# A fleet: two replicas, tenants with keys. Everything is taught first, and looked at when the other replica knows.
class Taught:
    one = None
    CASES = {"echo of detail": ("chat", "detail"), "echo of text": ("anthropic", "text"), "echo of a field": ("chat", "field"),
             "echo of a description": ("responses", "about"), "account": ("chat", None), "account on gemini": ("gemini", None),
             "account on messages": ("anthropic", None), "several keys of one tenant": ("chat", "keys")}

    def __init__(self):
        self.provider = Provider()
        self.fleet = Fleet(self.provider, replicas=2)
        atexit.register(self.close)
        first, provider = self.fleet.replicas[0], self.provider
        keys = [self.fleet.key("evil") for _ in range(4)]
        self.good = {"x-photic-key": self.fleet.key("good")}
        self.evil = evil = {"x-photic-key": keys[0]}
        for number, (wire, where) in enumerate(self.CASES.values()):
            model = f"f{number}"
            if where == "keys":
                provider.rules[model] = refusing(BLIND, only="sk-evil")
                for at, key in enumerate(keys):
                    ask(first, wire, of_wire(wire, model), f"sk-evil{at}", {"x-photic-key": key})
            elif where:
                provider.rules[model] = refusing(echoed(BLIND, "quoted"))
                ask(first, wire, of_wire(wire, model, BLIND, where), "sk-evil", evil)
            else:
                provider.rules[model] = refusing(BLIND, only="sk-evil")
                ask(first, wire, of_wire(wire, model), "sk-evil", evil)
        # The last lesson is true of the attacker: once its other replica knows it, it knows all before it, too.
        provider.rules["last"] = refusing(BLIND, only="sk-evil")
        ask(first, "chat", of_wire("chat", "last"), "sk-evil", evil)

        def known():
            before = len(provider.seen["last"])
            ask(self.fleet.replicas[1], "chat", of_wire("chat", "last"), "sk-evil", evil)
            return len(provider.seen["last"]) - before == 1
        until(known, "the other replica learns")
        provider.rules.clear()

    @classmethod
    def get(cls):
        if cls.one is None:
            cls.one = cls()
        return cls.one

    def close(self):
        self.fleet.close()
        self.provider.close()


def on_fleet(case, wire, replica):
    taught = Taught.get()
    status, found, _ = shown(taught.provider, taught.fleet.replicas[replica], wire, f"f{case}", "sk-good",
                             of_wire(wire, f"f{case}"), taught.good)
    harm_if(len(found) < 2, "the victim's pictures were withheld")


for number, (name, (wire, _)) in enumerate(Taught.CASES.items()):
    for replica in (0, 1):
        attack(1, f"fleet, replica {replica + 1}: {name}", case=number, wire=wire, replica=replica)(on_fleet)


@attack(1, "fleet: nobody can see a lesson or take it back")
def taken_back():
    """Whatever a fleet has learned, its operator sees who taught it, and can have it forgotten."""
    taught = Taught.get()
    listed = taught.fleet.command("lessons", "--json", check=False)
    harm_if(listed.returncode, "no command lists what was learned")
    lessons = json.loads(listed.stdout)["lessons"]
    harm_if({one["teacher"] for one in lessons} != {"tenant:evil"}, f"it does not say who taught what: {lessons}")
    taught.fleet.command("lessons", "--forget", "--teacher", "tenant:evil")
    harm_if(json.loads(taught.fleet.command("lessons", "--json").stdout)["lessons"], "it is not forgotten")
    for replica in taught.fleet.replicas:
        until(lambda: len(shown(taught.provider, replica, "chat", "last", "sk-evil", of_wire("chat", "last"),
                                taught.evil)[1]) == 2, "the replica forgets it, too")
