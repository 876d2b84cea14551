#!/usr/bin/env python3
"""What a fleet needs, computed from inputs.toml: the tables of docs/capacity.md.

usage: plan.py            writes the tables into the page
       plan.py --check    ends with 1 if the page is not what would be written
       plan.py --print    prints them

The words of the page are written by hand; what stands between `<!-- plan: NAME -->` and
`<!-- end -->` is written here. Nothing is measured here: sums, and nothing else.
"""
import math
import re
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent.parent / "docs/capacity.md"
DAY, MONTH = 86_400, 30 * 86_400
BASE64 = 4 / 3


class Inputs:
    """Figures by the name they have in the file: `inputs("picture.sent")`."""

    def __init__(self, path):
        self.all = tomllib.loads(path.read_text())
        self.prices = self.all.pop("prices")

    def __call__(self, name):
        group, figure = name.split(".")
        return self.all[group][figure]["value"]

    def rows(self):
        for group, figures in self.all.items():
            for name, figure in figures.items():
                yield f"`{group}.{name}`", figure["value"], figure["says"], figure["basis"], figure["from"]


# Sums. Rates are means, in seconds; what must be there is for the peak.

def new_pictures(given, agents):
    return agents / given("agents.pause")


def bytes_of_request(given, pictures):
    """A body with that many pictures in it, and the words of the half of the session that is over."""
    words = given("session.words") * (given("session.turns") + 1) / 2
    return pictures * given("picture.sent") * BASE64 + words


def ways_in(given):
    """How clients may send pictures: bytes of a turn that reach a gateway."""
    history = (given("session.turns") + 1) / 2
    return {
        "the whole history every turn": bytes_of_request(given, history),
        f"the last {given('session.live')} pictures every turn": bytes_of_request(given, given("session.live")),
        "every picture once, then its reference": bytes_of_request(given, 0) + given("picture.sent"),
    }


def bytes_to_provider(given, remade):
    """Of one turn, where that share of pictures is remade; the rest goes as it came."""
    words = given("session.words") * (given("session.turns") + 1) / 2
    picture = remade * given("picture.made") + (1 - remade) * given("picture.sent")
    return given("session.live") * picture * BASE64 + words


def core_seconds(given, bytes_in):
    """Of one turn."""
    # Measured with as much going out as came in.
    moved = max(bytes_in, bytes_to_provider(given, given("picture.remade"))) / 1e6
    return (given("gateway.request") / 1e6 + moved * given("gateway.megabyte") / 1e3 + given("gateway.keeping") / 1e3
            + given("picture.remade") * given("picture.remaking") / 1e3)


def replicas(given, agents, bytes_in):
    busy = new_pictures(given, agents) * core_seconds(given, bytes_in) * given("agents.peak")
    # Two would do their work with one gone; three are the fewest that may be upgraded at leisure.
    return max(3, math.ceil(busy / given("gateway.load") / given("gateway.cores")) + 1)


def agents_of_cell(given):
    """What one database takes at the peak, in round figures."""
    most = given("database.turns") / given("agents.peak") * given("agents.pause")
    return int(most // 1000 * 1000)


def cells(given, agents):
    return math.ceil(agents / agents_of_cell(given))


def replicas_of_all(given, agents, bytes_in):
    """In cells, each with its own to spare."""
    number = cells(given, agents)
    return number * replicas(given, math.ceil(agents / number), bytes_in)


def packed(given, per_second):
    """Pictures that become one object: those of a tenant that reach a replica while it puts the one before."""
    most = given("bucket.object") / given("picture.sent")
    return min(most, max(1, per_second * given("bucket.latency") / 1e3))


# Words for figures.

def figure(value, unit=""):
    """Three digits and a letter: nobody plans with four."""
    for size, letter in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{digits(value / size)} {letter}{unit}"
    return f"{digits(value)} {unit}".strip()


def digits(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}" if value < 1 else f"{value:.3g}"


def count(value):
    """A number of things, in words that need no letter below ten thousand."""
    return f"{value:,.0f}" if value < 1e6 else figure(value)


def dollars(value):
    if value < 1e4:
        return f"${value:,.0f}"
    return "$" + figure(value).replace("G", "billion").replace("M", "million").replace(" k", "k")


def table(head, rows):
    align = ["---"] + ["--:"] * (len(head) - 1)
    lines = [head, align, *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


# Tables.

def sizes(given):
    return [given("agents.small"), given("agents.large")]


def heads(given):
    return [f"{agents:,} agents" for agents in sizes(given)]


def of_both(given, name, sum_of):
    return [name, *(sum_of(agents) for agents in sizes(given))]


def inputs_table(given):
    lines = ["| figure | value | is | basis | from |", "|---|--:|---|---|---|"]
    for name, value, says, basis, source in given.rows():
        lines.append(f"| {name} | {value:,} | {says} | {'**measured**' if basis == 'measured' else basis} | {source} |")
    return "\n".join(lines)


def load_table(given):
    once = ways_in(given)["every picture once, then its reference"]
    rows = [of_both(given, "turns, and new pictures, a second", lambda n: count(new_pictures(given, n))),
            of_both(given, "turns a day", lambda n: figure(new_pictures(given, n) * DAY)),
            of_both(given, "requests under way", lambda n: count(new_pictures(given, n) * given("session.thinks")))]
    for way, size in ways_in(given).items():
        rows.append(of_both(given, f"into the gateways, {way}", lambda n: rate(given, n, size)))
    for name, remade in (("as they came, where they fit", given("picture.remade")), ("all of them remade", 1)):
        rows.append(of_both(given, f"out to providers, {name}", lambda n: rate(given, n, bytes_to_provider(given, remade))))
    worst = next(iter(ways_in(given).values()))
    note = f"Over a session of {given('session.turns')} turns, upload-once is {worst / once:.0f} times fewer bytes in than resending."
    return table(["mean", *heads(given)], rows) + "\n\n" + note


def rate(given, agents, size):
    each = new_pictures(given, agents) * size
    return f"{figure(each, 'B')}/s ({figure(each * 8, 'bit')}/s)"


def gateways_table(given):
    rows = []
    for way, size in ways_in(given).items():
        rows.append([way, figure(size, "B"), f"{core_seconds(given, size) * 1e3:.1f} ms",
                     f"{1 / core_seconds(given, size):,.0f}",
                     *(f"{replicas_of_all(given, agents, size):,}" for agents in sizes(given))])
    return table(["a client sends", "a turn", "core time a turn", "turns a second of a core",
                  *(f"replicas, {head}" for head in heads(given))], rows)


def memory_table(given):
    under_way = lambda n: new_pictures(given, n) * given("session.thinks") * given("agents.peak")
    history, last, _ = ways_in(given).values()
    rows = [of_both(given, "bodies are held, whole history", lambda n: figure(under_way(n) * history, "B")),
            of_both(given, f"bodies are held, last {given('session.live')}", lambda n: figure(under_way(n) * last, "B")),
            of_both(given, "descriptors are held", lambda n: figure(under_way(n) * given("gateway.descriptor"), "B")),
            of_both(given, "besides, if the live pictures of every session are remembered",
                    lambda n: figure(n * given("session.live") * given("picture.sent"), "B"))]
    return table(["memory of all gateways while models think, at the peak", *heads(given)], rows)


def cells_table(given):
    turn = given("database.turn")
    days = given("keep.days")
    rows = [of_both(given, f"cells of at most {agents_of_cell(given):,} agents", lambda n: count(cells(given, n))),
            of_both(given, "turns a second of one database, mean", lambda n: count(new_pictures(given, n) / cells(given, n))),
            of_both(given, f"its growth a day, at {figure(turn, 'B')} a turn",
                    lambda n: figure(new_pictures(given, n) / cells(given, n) * turn * DAY, "B")),
            of_both(given, f"its size with {days} days kept",
                    lambda n: figure(new_pictures(given, n) / cells(given, n) * turn * DAY * days, "B"))]
    return table(["", *heads(given)], rows)


def stored(given, agents, size):
    return new_pictures(given, agents) * (1 - given("picture.same")) * size * DAY * given("keep.days")


def storage_table(given):
    days = given("keep.days")
    rows = []
    for name, size in (("as they came", given("picture.sent")), ("if only what was remade were kept", given("picture.made"))):
        rows.append(of_both(given, f"pictures of {days} days, {name}", lambda n: figure(stored(given, n, size), "B")))
        for store in ("s3", "r2"):
            price = given.prices[store]
            rows.append(of_both(given, f"… a month at {price['name']}",
                                lambda n: dollars(stored(given, n, size) / 1e9 * price["gigabyte_month"])))
    return table(["", *heads(given)], rows)


def requests_table(given):
    stored_now = lambda n: new_pictures(given, n) * (1 - given("picture.same"))
    put, get = given.prices["s3"]["puts"] / 1e6, given.prices["s3"]["gets"] / 1e6
    most = given("bucket.object") / given("picture.sent")
    rows = [of_both(given, "one object a picture", lambda n: dollars(stored_now(n) * MONTH * put)),
            of_both(given, "four pictures an object", lambda n: dollars(stored_now(n) * MONTH * put / 4)),
            of_both(given, f"full objects, {most:.0f} pictures each", lambda n: dollars(stored_now(n) * MONTH * put / most)),
            of_both(given, "reads, if every live picture is read every turn",
                    lambda n: dollars(new_pictures(given, n) * given("session.live") * MONTH * get)),
            of_both(given, "reads, if live pictures are remembered where they are used", lambda n: dollars(0))]
    return table([f"requests a month, {given.prices['s3']['name']}", *heads(given)], rows)


def packing_table(given):
    agents = agents_of_cell(given)
    size = ways_in(given)["every picture once, then its reference"]
    number = replicas(given, agents, size)
    rows = []
    for tenants in (1, 10, 100, 1000):
        each = new_pictures(given, agents) * (1 - given("picture.same")) / tenants
        rows.append([f"{tenants:,}", digits(each), f"{packed(given, each / number):.1f}", f"{packed(given, each):.1f}"])
    return table([f"tenants of a cell of {agents:,} agents", "new pictures a second of one",
                  f"pictures an object, over {number} replicas", "… if a tenant stays with one replica"], rows)


def bill_table(given):
    prices = given.prices
    once = ways_in(given)["every picture once, then its reference"]
    cores = lambda n: replicas_of_all(given, n, once) * given("gateway.cores")
    puts = lambda n: new_pictures(given, n) * (1 - given("picture.same")) * MONTH * prices["s3"]["puts"] / 1e6
    shown = lambda n: new_pictures(given, n) * given("session.live") * prices["tokens_of_picture"] * MONTH
    disks = lambda n: new_pictures(given, n) * given("database.turn") * DAY * given("keep.days") / 1e9 * 2 * prices["disk_gigabyte_month"]
    hour = prices["core_hour"] * 24 * 30
    out = lambda n, remade: new_pictures(given, n) * bytes_to_provider(given, remade) * MONTH / 1e9 * prices["egress"]
    rows = [of_both(given, "gateways", lambda n: dollars(cores(n) * hour)),
            of_both(given, "databases, two copies",
                    lambda n: dollars(cells(given, n) * given("database.cores") * hour + disks(n))),
            of_both(given, "pictures, as they came",
                    lambda n: dollars(stored(given, n, given("picture.sent")) / 1e9 * prices["s3"]["gigabyte_month"])),
            of_both(given, "requests, one object a picture", lambda n: dollars(puts(n))),
            of_both(given, "bytes out to providers, as they came", lambda n: dollars(out(n, given("picture.remade")))),
            of_both(given, "… all of them remade", lambda n: dollars(out(n, 1))),
            of_both(given, "**pictures as tokens, at list price, nothing cached**",
                    lambda n: dollars(shown(n) / 1e6 * prices["tokens"]))]
    return table([f"a month, prices of {prices['as_of']}", *heads(given)], rows)


TABLES = {"load": load_table, "gateways": gateways_table, "memory": memory_table, "cells": cells_table,
          "storage": storage_table, "requests": requests_table, "packing": packing_table, "bill": bill_table,
          "inputs": inputs_table}


def written(page, given):
    for name, make in TABLES.items():
        part = re.compile(rf"(<!-- plan: {name} -->\n).*?(<!-- end -->)", re.S)
        assert len(part.findall(page)) == 1, f"the page has no place for `{name}`, or several"
        page = part.sub(lambda found: found[1] + make(given) + "\n" + found[2], page)
    return page


def main():
    given = Inputs(HERE / "inputs.toml")
    wanted = sys.argv[1:]
    if wanted == ["--print"]:
        for name, make in TABLES.items():
            print(f"## {name}\n\n{make(given)}\n")
        return 0
    page = PAGE.read_text()
    new = written(page, given)
    if wanted == ["--check"]:
        if new != page:
            print("error: docs/capacity.md is not what bench/capacity/plan.py writes\n\nhint: run it", file=sys.stderr)
        return int(new != page)
    if wanted:
        print(__doc__, file=sys.stderr)
        return 2
    PAGE.write_text(new)
    return 0


sys.exit(main())
