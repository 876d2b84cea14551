"""What attacks on memory and processor time share: large pictures from few bytes, gateways with a small budget, and
figures of a process."""
import atexit, base64, contextlib, functools, http.client, json, os, socket, struct, subprocess, threading, time, zlib

import harness
import pictures
from harness import Harm, Photic, Upstream, data_url, harm_if, until

# Megabytes that a process may hold beside its budget: code, stacks, what the allocator has not given back yet.
BESIDE = 64
TICKS = os.sysconf("SC_CLK_TCK")


@functools.lru_cache
def knows_budget(photic):
    """Whether the binary has a budget for all of its memory; 0.1.0 bounds declared bodies only."""
    return "memory_mib" in subprocess.run([photic, "schema"], check=True, capture_output=True, text=True).stdout


def limits(budget, **more):
    """The table [limits] that sets the budget, by whatever name the binary has for it."""
    name = "memory_mib" if knows_budget(harness.PHOTIC) else "in_flight_mib"
    lines = [f"{key} = {value}" for key, value in {name: budget, **more}.items()]
    return "[limits]\n" + "\n".join(lines) + "\n"


def gateway(upstream, budget=256, settings="", before="", **more):
    """A gateway with a budget of so many MiB."""
    return Photic(f"{before}\n{limits(budget, **more)}\n{settings}\n[[upstream]]\nurl = '{upstream.url}'\n")


def over(photic, budget, slack=32):
    """Raises harm where a gateway died, or held more than its budget and what any process needs."""
    harm_if(not photic.is_alive(), f"it died: {photic.said()[-300:]}")
    peak = photic.peak() * 1.048576
    most = budget * 1.048576 + BESIDE + slack
    harness.FIGURES.append(f"{peak:.0f} of {most:.0f} MB")
    harm_if(peak > most, f"{peak:.0f} MB were held, with a budget of {budget} MiB")


def cpu(photic):
    """Seconds of processor time that a process has used."""
    with open(f"/proc/{photic.pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def rests(photic, most):
    """Waits until a process does nothing any more, and gives the seconds of processor time that it used until then;
    `None`, as soon as these are more than `most`. A busy machine makes it wait longer, and changes nothing else."""
    begun, idle = cpu(photic), 0
    while cpu(photic) - begun <= most:
        before = cpu(photic)
        time.sleep(0.25)
        # Twice in a row: once, a process may merely not have been let run.
        idle = idle + 1 if cpu(photic) - before <= 0.03 else 0
        if idle == 2:
            return cpu(photic) - begun
    return None


# Pictures of many pixels in few bytes.

@functools.lru_cache
def large_png(side=8100, interlaced=False, bits=8, color=2):
    """A PNG of zeros, more than endpoints take: it has to be made smaller."""
    samples = {0: 1, 2: 3, 6: 4}[color]
    row = b"\0" * (1 + (side * samples * bits + 7) // 8)
    height = 7800
    deflate = zlib.compressobj(9)
    if interlaced:
        rows = b""
        for x, y, across, down in [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4),
                                   (1, 0, 2, 2), (0, 1, 1, 2)]:
            wide, high = -(-(side - x) // across), -(-(height - y) // down)
            rows += deflate.compress(b"\0" * (high * (1 + (wide * samples * bits + 7) // 8)))
        data = rows + deflate.flush()
    else:
        data = b"".join(deflate.compress(row) for _ in range(height)) + deflate.flush()
    head = pictures.SIGNATURE + pictures.header(side, height, bits, color, int(interlaced))
    return head + pictures.chunk(b"IDAT", data) + pictures.END


class Codes:
    """LZW codes of a GIF, low bits first."""

    def __init__(self):
        self.out, self.bits, self.held = bytearray(), 0, 0

    def put(self, code, width):
        self.bits |= code << self.held
        self.held += width
        while self.held >= 8:
            self.out.append(self.bits & 255)
            self.bits >>= 8
            self.held -= 8

    def done(self):
        if self.held:
            self.out.append(self.bits & 255)
        return bytes(self.out)


@functools.lru_cache
def lzw_zeros(count):
    """So many zeros as LZW of a GIF: each code is one pixel longer than the one before."""
    codes, clear, end = Codes(), 4, 5
    left = count
    while left > 0:
        codes.put(clear, 3)
        width, following, run = 3, 6, 1
        codes.put(0, width)
        left -= 1
        while left > 0 and following < 4095:
            run += 1
            if run > left:
                for _ in range(left):
                    codes.put(0, width)
                    following += 1
                    if following == 1 << width and width < 12:
                        width += 1
                left = 0
                break
            codes.put(following, width)
            left -= run
            following += 1
            if following == 1 << width and width < 12:
                width += 1
        if left <= 0:
            codes.put(end, width)
    return codes.done()


@functools.lru_cache
def large_gif(width=8100, height=6900, frames=1, dispose=0, frame_size=None):
    """A GIF of one colour. `dispose` 3 makes a decoder keep what stood there before."""
    wide, high = frame_size or (width, height)
    data = lzw_zeros(wide * high)
    blocks = b"".join(bytes([len(data[at:at + 255])]) + data[at:at + 255] for at in range(0, len(data), 255)) + b"\0"
    frame = b"\x21\xf9\x04" + bytes([dispose << 2]) + b"\x05\0\0\0" + b"\x2c" + \
        struct.pack("<HHHHB", 0, 0, wide, high, 0) + b"\x02" + blocks
    return b"GIF89a" + struct.pack("<HHBBB", width, height, 0x81, 0, 0) + bytes(12) + frame * frames + b";"


@functools.lru_cache
def large_jpeg(width=8104, height=7800, progressive=False):
    """A gray JPEG of equal blocks: six bits each, or two scans where it is progressive."""
    def segment(marker, data):
        return b"\xff" + bytes([marker]) + struct.pack(">H", len(data) + 2) + data
    blocks = (width // 8) * (height // 8)
    dc = bytes([0]) + bytes([1] + [0] * 15) + bytes([0])      # one code of one bit: no difference
    ac = bytes([0x10]) + bytes([1] + [0] * 15) + bytes([0])   # one code of one bit: end of block
    frame = struct.pack(">BHHB", 8, height, width, 1) + bytes([1, 0x11, 0])
    head = b"\xff\xd8" + segment(0xdb, bytes([0]) + bytes([16] * 64)) + \
        segment(0xc2 if progressive else 0xc0, frame) + segment(0xc4, dc) + segment(0xc4, ac)

    def scan(bits, first, last):
        full, rest = divmod(bits, 8)
        tail = bytes([(0xff >> rest)]) if rest else b""
        return segment(0xda, bytes([1, 1, 0, first, last, 0])) + bytes(full) + tail
    if progressive:
        return head + scan(blocks, 0, 0) + scan(blocks, 1, 63) + b"\xff\xd9"
    return head + scan(blocks * 2, 0, 63) + b"\xff\xd9"


@functools.lru_cache
def large_bmp(width=6000, height=6000):
    """A BMP of runs: 8 bits a pixel, RLE8, few bytes."""
    row = b"\xff\0" * (width // 255) + (bytes([width % 255, 0]) if width % 255 else b"") + b"\0\0"
    data = row * height + b"\0\1"
    info = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 8, 1, len(data), 2835, 2835, 2, 0)
    palette = bytes(8)
    offset = 14 + len(info) + len(palette)
    return b"BM" + struct.pack("<IHHI", offset + len(data), 0, 0, offset) + info + palette + data


@functools.lru_cache
def large_tiff(width=8000, height=5600):
    """A TIFF in one deflated strip."""
    data = zlib.compress(bytes(width * height * 3), 9)
    entries = [(256, 4, 1, width), (257, 4, 1, height), (258, 3, 3, 8 + 0), (259, 3, 1, 8), (262, 3, 1, 2),
               (273, 4, 1, 0), (277, 3, 1, 3), (278, 4, 1, height), (279, 4, 1, len(data))]
    bits_at = 8
    strip_at = bits_at + 6
    ifd_at = strip_at + len(data) + (strip_at + len(data)) % 2
    packed = b""
    for tag, kind, count, value in entries:
        if tag == 258:
            value = bits_at
        if tag == 273:
            value = strip_at
        field = struct.pack("<HH", value, 0) if kind == 3 and count == 1 else struct.pack("<I", value)
        packed += struct.pack("<HHI", tag, kind, count) + field
    body = struct.pack("<HHH", 8, 8, 8) + data
    body += b"\0" * (ifd_at - 8 - len(body))
    return b"II*\0" + struct.pack("<I", ifd_at) + body + struct.pack("<H", len(entries)) + packed + bytes(4)


PICTURES = {
    "png": lambda: ("image/png", large_png()),
    "interlaced png": lambda: ("image/png", large_png(interlaced=True)),
    "png of 16 bits": lambda: ("image/png", large_png(bits=16)),
    "gray png": lambda: ("image/png", large_png(color=0)),
    "gif": lambda: ("image/gif", large_gif()),
    "gif that keeps": lambda: ("image/gif", large_gif(dispose=3)),
    "gif with a wide frame": lambda: ("image/gif", large_gif(8100, 4000, frame_size=(8100, 7800))),
    "gif of many frames": lambda: ("image/gif", large_gif(8100, 6900, frames=3, dispose=3)),
    "jpeg": lambda: ("image/jpeg", large_jpeg()),
    "progressive jpeg": lambda: ("image/jpeg", large_jpeg(progressive=True)),
    "bmp": lambda: ("image/bmp", large_bmp()),
    "tiff": lambda: ("image/tiff", large_tiff()),
}


def body_of(kind, count=1, model="claude-sonnet-4-5", extra=0):
    """A Messages request with large pictures; `extra` makes each another one, so that no cache helps."""
    media_type, picture = PICTURES[kind]()
    parts = []
    for number in range(count):
        # Bytes past the end of a picture belong to nobody, and make it another one.
        data = base64.b64encode(picture + struct.pack(">Q", extra * 1000 + number)).decode()
        parts.append({"type": "image", "source": {"type": "base64", "media_type": media_type, "data": data}})
    return json.dumps({"model": model, "max_tokens": 10, "messages": [
        {"role": "user", "content": [*parts, {"type": "text", "text": "what is this?"}]}]}).encode()


def head(path, length, key="sk-caller", more=()):
    """The head of a POST with a body of a declared length, or a chunked one."""
    how = "transfer-encoding: chunked" if length is None else f"content-length: {length}"
    lines = [f"POST {path} HTTP/1.1", "host: 127.0.0.1", "content-type: application/json",
             f"authorization: Bearer {key}", f"x-api-key: {key}", "anthropic-version: 2023-06-01", how, *more]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def connected(photic, timeout=20):
    return socket.create_connection(("127.0.0.1", photic.port), timeout=timeout)


def sent(photic, path, body, key="sk-caller"):
    """A connection on which a request was sent whole, without waiting for the answer."""
    connection = connected(photic)
    connection.sendall(head(path, len(body), key) + body)
    return connection


def at_once(tasks):
    """Runs functions in threads of their own; what they gave, in order. What was thrown counts as nothing."""
    results = [None] * len(tasks)

    def run(number, task):
        with contextlib.suppress(OSError, http.client.HTTPException, Harm):
            results[number] = task()
    threads = [threading.Thread(target=run, args=one, daemon=True) for one in enumerate(tasks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(harness.TIMEOUT)
    return results


_SHARED = {}


def shared(name, make):
    """A pair of upstream and gateway that attempts of a class share; ended with the process."""
    known = _SHARED.get(name)
    if known and known[1].is_alive():
        return known
    upstream = Upstream()
    photic = make(upstream)
    _SHARED[name] = (upstream, photic)
    atexit.register(photic.close)
    return upstream, photic
