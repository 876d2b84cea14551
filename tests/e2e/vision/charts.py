"""Charts that photic drew from fresh seeds, what is asked about them, and how answers are scored.

A folder of them has `charts.json`: for each its file, kind, question and what it shows. Answers are
scored by position, and by nothing else.
"""
import base64, json, math, pathlib, re

COLORS = "red green blue yellow orange purple cyan pink white black brown gray magenta teal lime navy".split()
COLOR = re.compile(r"\b(" + "|".join(COLORS) + r")\b")
# What a guess hits, of cells and of characters.
CHANCE = {"quads": 1 / 16, "grids": 1 / 16, "codes": 1 / 32}


class Chart:
    def __init__(self, folder, facts):
        self.path = pathlib.Path(folder) / facts["file"]
        self.name, self.kind, self.question, self.shows = facts["file"], facts["kind"], facts["question"], facts["shows"]
        self.bytes = self.path.read_bytes()

    @property
    def base64(self):
        return base64.b64encode(self.bytes).decode()

    @property
    def url(self):
        return "data:image/png;base64," + self.base64

    @property
    def cells(self):
        return list(self.shows) if self.kind == "codes" else self.shows.replace(" /", ",").split(", ")

    def hits(self, answer):
        """How many cells an answer names, each at its place."""
        if self.kind == "codes":
            words = re.findall(r"\b[A-HJ-NP-Z2-9]{3,8}\b", answer or "")
            said = list(words[0]) if words else []
        else:
            said = COLOR.findall((answer or "").lower())
        return sum(a == b for a, b in zip(self.cells, said))


def load(folder, kind=None):
    known = json.loads((pathlib.Path(folder) / "charts.json").read_text())
    return [Chart(folder, facts) for facts in known if kind in (None, facts["kind"])]


class Score:
    """Answers of one path."""

    def __init__(self, path, kind):
        self.path, self.kind, self.hit, self.of, self.whole, self.charts, self.wrong = path, kind, 0, 0, 0, 0, []

    def add(self, chart, answer):
        hits = chart.hits(answer)
        self.hit += hits
        self.of += len(chart.cells)
        self.charts += 1
        self.whole += hits == len(chart.cells)
        if hits < len(chart.cells) and len(self.wrong) < 3:
            self.wrong.append({"shows": chart.shows, "said": (answer or "")[:200]})

    def line(self):
        facts = {key: value for key, value in vars(self).items()}
        facts["odds"] = odds(self.hit, self.of, CHANCE[self.kind])
        return json.dumps(facts)


def odds(hits, of, chance):
    """Log10 of the chance that guessing hits as many or more: the exact binomial tail."""
    ln = lambda k: math.lgamma(of + 1) - math.lgamma(k + 1) - math.lgamma(of - k + 1) + k * math.log(chance) + (of - k) * math.log1p(-chance)
    terms = [ln(k) for k in range(hits, of + 1)]
    top = max(terms)
    return (top + math.log(sum(math.exp(term - top) for term in terms))) / math.log(10)
