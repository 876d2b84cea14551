"""Makes the images that an agent's tools return visible to the model, on every provider API.

`repair` corrects one request body before it is sent. `check` and `explain` report, `lower` writes a
body for another API, and `view` makes the picture that a model would get. Bodies may be `bytes`,
`bytearray` or `memoryview`; they are read in place, without the interpreter's lock, and must not
change during the call.

The modules `photic.httpx2`, `photic.httpx`, `photic.anthropic` and `photic.boto3` put `repair` into the
clients of providers. `photic.langchain`, `photic.pydantic_ai`, `photic.openai_agents`, `photic.adk`,
`photic.strands` and `photic.litellm` put it into frameworks.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _native
from ._native import PhoticError

if TYPE_CHECKING:
    import os
    from collections.abc import Sequence
    from typing import Literal, Protocol, TypeAlias

    Buffer: TypeAlias = bytes | bytearray | memoryview
    Wire: TypeAlias = Literal[
        "anthropic", "bedrock-converse", "gemini", "ollama", "openai-chat", "openai-responses"
    ]
    Purpose: TypeAlias = Literal["converse", "summarize"]
    Fidelity: TypeAlias = Literal["glance", "read", "pixel"]

    class ArrayLike(Protocol):
        """A picture in memory: a PIL image, a NumPy array, or anything alike."""

        @property
        def __array_interface__(self) -> dict[str, Any]: ...


__all__ = [
    "Explanation",
    "Finding",
    "Fix",
    "Ledger",
    "Lowered",
    "Medium",
    "PhoticError",
    "Policy",
    "Profile",
    "Rejection",
    "Repaired",
    "Report",
    "Route",
    "Session",
    "View",
    "check",
    "explain",
    "lower",
    "repair",
    "route",
    "view",
]


class Policy(NamedTuple):
    """The caller's choices. `None` stands for photic's default."""

    retention: str | None = None
    """How long images stay in sight: `all`, `priced`, `turns(K)` or `newest(N)`."""
    keep: int | None = None
    """The number of newest tool images that `priced` always keeps."""
    marks: bool | None = None
    """`True` to set prompt cache breakpoints where they pay."""
    purpose: Purpose | None = None
    """`summarize` replaces all images by notices."""
    pixels: bool | None = None
    """`False` if no picture may be scaled or converted."""
    max_images: int | None = None
    """Maximum number of images in a request."""
    max_image_tokens: int | None = None
    """Maximum tokens of the images of a request."""
    max_bytes: int | None = None
    """Maximum bytes of a request."""

    def _options(self) -> dict[str, Any]:
        limits = {
            "images": self.max_images,
            "image_tokens": self.max_image_tokens,
            "bytes": self.max_bytes,
        }
        limits = {name: value for name, value in limits.items() if value is not None}
        options = {
            "retention": self.retention,
            "keep": self.keep,
            "marks": self.marks,
            "purpose": self.purpose,
            "pixels": self.pixels,
            "limits": limits or None,
        }
        return {name: value for name, value in options.items() if value is not None}


class Profile:
    """The facts about an endpoint and a model: its limits, its rules, its prices."""

    __slots__ = ("data",)

    data: dict[str, Any]
    """The sections and fields, as `photic profiles show` prints them."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    @classmethod
    def of(cls, wire: Wire, model: str | None = None, host: str | None = None) -> Profile:
        """Looks up the profile of a model on an API. There is always one."""
        return cls(json.loads(_native.profile(_options(to=wire, model=model, host=host))))

    @property
    def id(self) -> str:
        """Its name."""
        return str(self.data["id"])

    @property
    def wire(self) -> str:
        """The API that it describes."""
        return str(self.data["wire"])

    def changed(self, section: str, **fields: Any) -> Profile:
        """Returns a copy with other values in a section, for example `limits`, `images=4`."""
        old = self.data.get(section, {})
        if not isinstance(old, dict):
            raise TypeError(f"`{section}` is not a section; the sections are `limits`, `accepts`, …")
        return Profile({**self.data, section: {**old, **fields}})

    def __repr__(self) -> str:
        return f"Profile({self.id!r})"


class _Row:
    """A row of a report, with the names of the command's `--json`."""

    __slots__ = ("data",)

    data: dict[str, Any]
    """All facts. What is not known is left out."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.data == self.data

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.data!r})"


class Finding(_Row):
    """A problem of a request."""

    __slots__ = ()

    @property
    def code(self) -> str:
        """Its stable name."""
        return str(self.data["code"])

    @property
    def at(self) -> str:
        """Its place in the body, as a JSON pointer; after `#`, the place within JSON in a text."""
        return str(self.data["at"])

    @property
    def message(self) -> str:
        """A sentence about it."""
        return str(self.data["message"])

    @property
    def hint(self) -> str:
        """Advice what to do."""
        return str(self.data["hint"])

    @property
    def index(self) -> int | None:
        """The number of the image concerned, from 1."""
        return self.data.get("index")


class Fix(_Row):
    """A change that was made to a request."""

    __slots__ = ()

    @property
    def did(self) -> str:
        """Its stable name."""
        return str(self.data["did"])

    @property
    def at(self) -> str | None:
        """Its place in the body that came in, as a JSON pointer; after `#`, the place within JSON in a text."""
        return self.data.get("at")

    @property
    def message(self) -> str:
        """A sentence about it."""
        return str(self.data["message"])

    @property
    def index(self) -> int | None:
        """The number of the image concerned, from 1."""
        return self.data.get("index")


class Ledger(NamedTuple):
    """The cost of a request. Token counts are estimates."""

    images: int
    image_tokens: int
    tokens: int
    usd: float | None


class Medium(_Row):
    """An image, a document or a sound of a request, with its fate."""

    __slots__ = ()

    @property
    def index(self) -> int:
        """Its number, from 1."""
        return int(self.data["index"])

    @property
    def at(self) -> str | None:
        """Its place in the body, as a JSON pointer; after `#`, the place within JSON in a text."""
        return self.data.get("at")

    @property
    def tool(self) -> str | None:
        """The tool that returned it."""
        return self.data.get("tool")

    @property
    def role(self) -> str | None:
        """The role of the message that holds it, if no tool returned it."""
        return self.data.get("role")

    @property
    def source_size(self) -> tuple[int, int] | None:
        """The width and height of the original."""
        return _pair(self.data.get("source_size"))

    @property
    def size(self) -> tuple[int, int] | None:
        """The width and height as it is sent; `None` if it is not shown."""
        return _pair(self.data.get("size"))

    @property
    def bytes(self) -> int:
        """Its length in the body."""
        return int(self.data["bytes"])

    @property
    def tokens(self) -> int:
        """Its tokens in this request; 0 if it is not shown."""
        return int(self.data["tokens"])

    @property
    def usd(self) -> float | None:
        """Its price in US dollars."""
        return self.data.get("usd")

    @property
    def fate(self) -> str:
        """`keep`, `shrink`, `sheet`, `hoist`, `elide` or `refuse`."""
        return str(self.data["fate"])

    @property
    def reason(self) -> str:
        """The stable name of the reason."""
        return str(self.data["reason"])

    @property
    def why(self) -> str:
        """The reason in words."""
        return str(self.data["why"])


class Rejection(NamedTuple):
    """An error that a provider answered with."""

    status: int
    text: str


class Route(NamedTuple):
    """The meaning of the path that a request is posted to."""

    wire: Wire
    model: str | None
    """The model, if the path names it."""
    host: str
    """The host whose profile applies."""


class Report:
    """What photic found out about a request."""

    __slots__ = ("_data", "_json")

    def __init__(self, report: str) -> None:
        self._json = report
        self._data: dict[str, Any] | None = None

    @property
    def data(self) -> dict[str, Any]:
        """The whole report, with the names of the command's `--json`."""
        if self._data is None:
            self._data = json.loads(self._json)
        return self._data

    @property
    def wire(self) -> str | None:
        """The API or the format of the body that came in; `None` if it was not recognized."""
        return self.data.get("from", self.data.get("wire"))

    @property
    def model(self) -> str | None:
        """The model that the request is for."""
        return self.data.get("model")

    @property
    def profile(self) -> str | None:
        """The id of the profile that was used."""
        return self.data.get("profile")

    @property
    def findings(self) -> list[Finding]:
        """The problems of the body that came in."""
        return [Finding(one) for one in self.data["findings"]]

    @property
    def ledger(self) -> Ledger | None:
        """The cost of the request as photic would send it."""
        ledger = self.data.get("ledger")
        if ledger is None:
            return None
        return Ledger(
            ledger["images"], ledger["image_tokens"], ledger["tokens"], ledger.get("usd")
        )

    def __repr__(self) -> str:
        codes = [finding.code for finding in self.findings]
        return f"{type(self).__name__}(wire={self.wire!r}, findings={codes})"


class Explanation(Report):
    """Every image of a request with its fate."""

    __slots__ = ()

    @property
    def media(self) -> list[Medium]:
        """The images, documents and sounds, in the order of the conversation."""
        return [Medium(one) for one in self.data["media"]]


class Lowered(Report):
    """A body that was written, and the changes that were made."""

    __slots__ = ("body", "is_changed")

    body: bytes
    """The body to send. It is the object that came in if that was `bytes` and nothing changed."""
    is_changed: bool
    """`True` if the body differs from the one that came in."""

    def __init__(self, body: bytes, is_changed: bool, report: str) -> None:
        super().__init__(report)
        self.body = body
        self.is_changed = is_changed

    @property
    def fixes(self) -> list[Fix]:
        """The changes, in the order of the conversation."""
        return [Fix(one) for one in self.data.get("decisions", ())]


class Repaired(Lowered):
    """A repaired request: its `body`, the `fixes` that were made, and the `findings` before them."""

    __slots__ = ()


class View:
    """A picture as a model would get it, and the facts about it."""

    __slots__ = ("data", "encoded")

    encoded: bytes
    """The encoded picture."""
    data: dict[str, Any]
    """All facts: `map` leads from its pixels to those of the source."""

    def __init__(self, encoded: bytes, report: str) -> None:
        self.encoded = encoded
        self.data = json.loads(report)

    @property
    def media_type(self) -> str:
        """Its media type."""
        return str(self.data["media_type"])

    @property
    def size(self) -> tuple[int, int]:
        """Its width and height."""
        width, height = self.data["size"]
        return (int(width), int(height))

    @property
    def source_size(self) -> tuple[int, int]:
        """The width and height of the upright source."""
        width, height = self.data["source_size"]
        return (int(width), int(height))

    @property
    def tokens(self) -> int:
        """Its price."""
        return int(self.data["tokens"])

    @property
    def warnings(self) -> list[str]:
        """Facts that a reader should know."""
        return [warning["message"] for warning in self.data["warnings"]]

    def to_source(self, x: float, y: float) -> tuple[float, float]:
        """Maps a point of the view to the upright source."""
        m = self.data["map"]
        return (m["a"] * x + m["c"] * y + m["e"], m["b"] * x + m["d"] * y + m["f"])

    def __repr__(self) -> str:
        width, height = self.size
        return f"View({self.media_type}, {width}x{height}, {self.tokens} tokens)"


class Session:
    """Repairs the requests of conversations, turn by turn.

    It keeps what it knows of up to eight conversations: of a request that goes on with one, only what is
    new is read. The result is that of `repair`, byte for byte, whatever became of the conversation; a
    request that goes on with none is read whole. Threads may share a session.
    """

    __slots__ = ("_session",)

    def __init__(
        self,
        wire: Wire | None = None,
        model: str | None = None,
        host: str | None = None,
        *,
        profile: Profile | str | None = None,
        policy: Policy | None = None,
    ) -> None:
        self._session = _native.Session(_options(wire, None, model, host, profile, policy))

    def repair(self, body: Buffer) -> Repaired:
        """Repairs a request body, as `repair` does."""
        made, report = self._session.repair(body)
        return Repaired(_same(body) if made is None else made, made is not None, report)

    @property
    def figures(self) -> dict[str, int]:
        """What was done so far.

        `continued` requests were read without their known turns, which had `known_bytes`; others were
        `read_whole`. `conversations` are kept, and take `kept_bytes` of memory.
        """
        figures: dict[str, int] = json.loads(self._session.figures())
        return figures

    def __repr__(self) -> str:
        return f"Session({self.figures!r})"


def check(
    body: Buffer,
    wire: Wire | None = None,
    model: str | None = None,
    host: str | None = None,
    *,
    profile: Profile | str | None = None,
    policy: Policy | None = None,
) -> Report:
    """Finds the problems of a request body.

    `wire` is the API of the body; it is detected if absent. `model` is the model that reads the
    request; the body names it if absent.
    """
    return Report(_native.check(body, _options(wire, None, model, host, profile, policy)))


def explain(
    body: Buffer,
    wire: Wire | None = None,
    model: str | None = None,
    host: str | None = None,
    *,
    to: Wire | None = None,
    profile: Profile | str | None = None,
    policy: Policy | None = None,
) -> Explanation:
    """Lists every image of a request with its fate, the reason, and its price."""
    return Explanation(_native.explain(body, _options(wire, to, model, host, profile, policy)))


def lower(
    body: Buffer,
    to: Wire | None = None,
    *,
    wire: str | None = None,
    model: str | None = None,
    host: str | None = None,
    profile: Profile | str | None = None,
    policy: Policy | None = None,
) -> Lowered:
    """Writes a request, a stored conversation or a reply for an API, as `photic lower` does.

    `to` is the API to write; that of the body if absent. `wire` is the format of the body; it is
    detected if absent. Raises `PhoticError` if the body is in no known format.
    """
    made, report = _native.lower(body, _options(wire, to, model, host, profile, policy))
    return Lowered(_same(body) if made is None else made, made is not None, report)


def repair(
    body: Buffer,
    *,
    wire: Wire | None = None,
    model: str | None = None,
    host: str | None = None,
    profile: Profile | str | None = None,
    policy: Policy | None = None,
    rejections: Sequence[Rejection] = (),
) -> Repaired:
    """Repairs a request body for the endpoint that it is sent to.

    A body that cannot be read is returned as it is, with a finding. `rejections` are the errors that
    the provider answered this request with so far: the request is repaired under what they say.
    """
    options = _options(wire, None, model, host, profile, policy)
    made, report = _native.repair(body, options, [(one[0], one[1]) for one in rejections])
    return Repaired(_same(body) if made is None else made, made is not None, report)


def route(path: str, host: str = "") -> Route | None:
    """Returns the API and the model of the path that a request is posted to.

    `None` if no conversation is posted there.
    """
    found = _native.route(path, host)
    return Route(**json.loads(found)) if found is not None else None


def view(
    source: str | os.PathLike[str] | Buffer | ArrayLike,
    *,
    model: str | None = None,
    host: str | None = None,
    region: tuple[int, int, int, int] | None = None,
    tile: int | None = None,
    page: int = 1,
    fidelity: Fidelity | None = None,
    max_edge: int | None = None,
    max_bytes: int | None = None,
) -> View:
    """Makes the picture that a model would get.

    `source` is the path or the bytes of an image file, a PIL image, or an array of 8-bit samples of
    the shape (height, width), (height, width, 3) or (height, width, 4). `region` is x, y, width and
    height in pixels of the upright source.
    """
    options = {
        "model": model,
        "host": host,
        "region": region,
        "tile": tile,
        "page": page,
        "fidelity": fidelity,
        "max_edge": max_edge,
        "max_bytes": max_bytes,
    }
    text = json.dumps({name: value for name, value in options.items() if value is not None})
    if isinstance(source, bytes | bytearray):
        return View(*_native.view(source, text))
    if isinstance(source, str) or hasattr(source, "__fspath__"):
        with open(source, "rb") as file:  # type: ignore[arg-type]
            return View(*_native.view(file.read(), text))
    data, shape = _samples(source)
    return View(*_native.view(data, text, shape))


def _pair(size: list[int] | None) -> tuple[int, int] | None:
    return (size[0], size[1]) if size else None


def _samples(source: Any) -> tuple[Buffer, tuple[int, int, int] | None]:
    """Returns the samples of a picture in memory, and its width, height and channels."""
    if hasattr(source, "mode") and hasattr(source, "tobytes"):  # a PIL image
        channels = {"L": 1, "RGB": 3, "RGBA": 4}
        if source.mode not in channels:
            source = source.convert("RGBA" if "A" in source.mode or source.mode == "P" else "RGB")
        width, height = source.size
        return source.tobytes(), (width, height, channels[source.mode])
    try:
        samples = source if isinstance(source, memoryview) else memoryview(source)
    except TypeError:
        kind = type(source).__name__
        raise TypeError(
            f"cannot view `{kind}`: pass a path, bytes, a PIL image or an array of 8-bit samples"
        ) from None
    if samples.ndim == 1:  # the bytes of a file
        return samples, None
    if samples.format != "B" or samples.ndim not in (2, 3) or samples.shape is None:
        raise TypeError(
            f"cannot view an array of format `{samples.format}` with {samples.ndim} dimensions: "
            "pass `array.astype('uint8')` of the shape (height, width, channels)"
        )
    height, width, *rest = samples.shape
    flat: Buffer = samples.cast("B") if samples.c_contiguous else samples.tobytes()
    return flat, (width, height, rest[0] if rest else 1)


def _options(
    wire: str | None = None,
    to: str | None = None,
    model: str | None = None,
    host: str | None = None,
    profile: Profile | str | None = None,
    policy: Policy | None = None,
) -> str:
    """Returns the options of a call as JSON. No text stands for no options."""
    options: dict[str, Any] = {}
    if wire is not None:
        options["from"] = wire
    if to is not None:
        options["to"] = to
    if model is not None:
        options["model"] = model
    if host is not None:
        options["host"] = host
    if profile is not None:
        options["profile"] = profile.data if isinstance(profile, Profile) else profile
    if policy is not None:
        options["policy"] = policy._options()
    return json.dumps(options) if options else ""


def _same(body: Buffer) -> bytes:
    """Returns a body that did not change as `bytes`."""
    return body if isinstance(body, bytes) else bytes(body)
