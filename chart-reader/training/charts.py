"""Charts to train on: grids of colors and codes of letters, with what stands at each image token.

They are drawn as photic draws its own (the palette, the lines and the letters of
`photic-pixels`), and in many other ways besides, so that the reader learns charts and not our
drawing of them.
"""

import functools
import glob
import io
import pathlib
import random
import re

import numpy as np
from PIL import Image, ImageDraw, ImageFont

PALETTE = {
    "red": (220, 30, 40), "green": (30, 150, 60), "blue": (30, 70, 210), "yellow": (245, 220, 40),
    "orange": (245, 130, 20), "purple": (130, 40, 160), "cyan": (50, 200, 220),
    "pink": (250, 150, 200), "white": (250, 250, 250), "black": (15, 15, 15),
    "brown": (120, 70, 30), "gray": (128, 128, 128), "magenta": (225, 30, 190),
    "teal": (10, 120, 125), "lime": (160, 240, 40), "navy": (15, 20, 90),
}  # fmt: skip
COLORS = list(PALETTE)
LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
CORNERS = ["top-left", "top-right", "bottom-left", "bottom-right"]

SIZE, TOKENS = 256, 8
NOTHING, IGNORED = len(LETTERS), -100
# The order in which the encoder's guesses name colors: fixed, whatever the palette's is.
GUESSES = (
    "red green blue yellow orange purple pink brown black white gray cyan magenta teal lime navy"
).split()

ROOT = pathlib.Path(__file__).parents[2]
GLYPHS = ROOT / "crates/photic-pixels/src/chart/glyphs.rs"
FACES = [
    face
    for folder in ("dejavu", "liberation")
    for face in sorted(glob.glob(f"/usr/share/fonts/truetype/{folder}/*.ttf"))
    if not any(word in face for word in ("Math", "Oblique", "Italic"))
]


class Chart:
    """Pixels, what they show, and what the encoder should make of each image token."""

    def __init__(self, image, guesses, rows=None, code=None):
        self.pixels, self.guesses, self.rows, self.code = scaled(image), guesses, rows, code


def grid(height, width, lines=None):
    """A grid of colors, each cell drawn by itself."""
    rows = [[random.choice(COLORS) for _ in range(width)] for _ in range(height)]
    across = random.choice([256, 256, 512, 320, 400, 700])
    down = across if random.random() < 0.7 else int(across * random.uniform(0.6, 1.0))
    shift = 1 / 40 if random.random() < 0.2 else 0
    xs = [0, *(round(across * (i / width + random.uniform(-shift, shift))) for i in range(1, width)), across]
    ys = [0, *(round(down * (i / height + random.uniform(-shift, shift))) for i in range(1, height)), down]
    pixels = np.empty((down, across, 3), np.uint8)
    for y, row in enumerate(rows):
        for x, color in enumerate(row):
            pixels[ys[y] : ys[y + 1], xs[x] : xs[x + 1]] = near(PALETTE[color])
    lines = random.random() < 0.6 if lines is None else lines
    if lines:
        thick = random.choice([2, 2, 3, 4]) * across // 256
        shade = random.choice([128, 90, 90, 60, 0, 255])
        for x in xs:
            pixels[:, max(0, x - thick) : x + thick] = shade
        for y in ys:
            pixels[max(0, y - thick) : y + thick] = shade
    cells = [guess(t, xs, across) for t in range(TOKENS)], [guess(t, ys, down) for t in range(TOKENS)]
    guesses = np.full((TOKENS, TOKENS), IGNORED, np.int64)
    for y, row in enumerate(cells[1]):
        for x, column in enumerate(cells[0]):
            if row is not None and column is not None:
                guesses[y, x] = NOTHING + 1 + GUESSES.index(rows[row][column])
    return Chart(Image.fromarray(pixels), guesses, rows=rows)


def guess(token, edges, length):
    """Which cell an image token lies in, if most of it lies in one."""
    middle = (token + 0.5) * length / TOKENS
    cell = max(i for i, edge in enumerate(edges[:-1]) if edge <= middle)
    margin = 0.2 * length / TOKENS
    inside = edges[cell] + margin < middle < edges[cell + 1] - margin
    return cell if inside else None


def code(length=None, pen=None):
    """A code of letters: with a pen, as photic draws it, or in some typeface."""
    text = "".join(random.choice(LETTERS) for _ in range(length or random.choice([3, 4, 4, 5, 5, 6, 6, 6])))
    across = random.choice([256, 256, 512, 512, 320, 400])
    down = across if random.random() < 0.75 else int(across * random.uniform(0.6, 1.0))
    ground = random.choice(["white"] * 5 + COLORS)
    paper = near(PALETTE[ground])
    dark = sum(paper) < 345
    ink = (random.randint(205, 255),) * 3 if dark else (random.randint(0, 50),) * 3
    image = Image.new("RGB", (across, down), paper)
    pen = random.random() < 0.5 if pen is None else pen
    centers = (drawn if pen else typeset)(image, text, ink)
    guesses = np.full((TOKENS, TOKENS), NOTHING, np.int64)
    for letter, (x, y) in zip(text, centers):
        guesses[min(7, int(y * TOKENS / down)), min(7, int(x * TOKENS / across))] = LETTERS.index(letter)
    return Chart(image, guesses, code=text)


@functools.cache
def strokes():
    """The letters of photic's own codes, as lines of points: read from where photic draws them."""
    source = re.findall(r'"(M[^"]+)"', GLYPHS.read_text())
    return {letter: [*lines(text)] for letter, text in zip(LETTERS, source, strict=True)}


def lines(text):
    line, around = [], None
    for word in text.split():
        point = tuple(float(part) for part in word.lstrip("MLQ").split(","))
        if word[0] == "Q":
            around = point
        elif around:
            (ax, ay), (bx, by), (cx, cy) = line[-1], around, point
            for t in np.linspace(0, 1, 9)[1:]:
                a, b, c = (1 - t) ** 2, 2 * (1 - t) * t, t**2
                line.append((a * ax + b * bx + c * cx, a * ay + b * by + c * cy))
            around = None
        elif word[0] == "M":
            if line:
                yield line
            line = [point]
        else:
            line.append(point)
    yield line


def drawn(image, text, ink):
    """With a round pen, as photic does."""
    across, down = image.size
    pen, fine = 0.42 * random.uniform(0.8, 1.15), 2
    gap, box = 5.2 + 2 * 0.42, (4 + 2 * 0.42, 6 + 2 * 0.42)
    units = gap * len(text) - 1.2
    scale = min(across * random.uniform(0.75, 0.93) / max(units, 4 * gap if random.random() < 0.3 else 0), down * 0.85 / box[1])
    if random.random() < 0.6:
        left, top = (across - units * scale) / 2, (down - box[1] * scale) / 2
    else:
        left, top = random.uniform(0, across - units * scale), random.uniform(0, down - box[1] * scale)
    mask = Image.new("L", (across * fine, down * fine))
    draw, centers = ImageDraw.Draw(mask), []
    radius = pen * scale * fine
    for place, letter in enumerate(text):
        x = left + place * gap * scale
        for line in strokes()[letter]:
            points = [((x + (px + 0.42) * scale) * fine, (top + (py + 0.42) * scale) * fine) for px, py in line]
            draw.line(points, fill=255, width=max(1, round(2 * radius)), joint="curve")
            for px, py in (points[0], points[-1]):
                draw.ellipse([px - radius, py - radius, px + radius, py + radius], fill=255)
        centers.append((x + box[0] * scale / 2, top + box[1] * scale / 2))
    image.paste(ink, (0, 0), mask.resize(image.size, Image.BOX))
    return centers


@functools.cache
def typeface(path, size):
    return ImageFont.truetype(path, size)


def typeset(image, text, ink):
    across, down = image.size
    path = random.choice(FACES)
    wanted = across * random.uniform(0.76, 0.96) * min(1, (len(text) + 0.6) / 6)
    size = int(40 * wanted / typeface(path, 40).getlength(text))
    face = typeface(path, max(10, min(size, int(down * 0.8))))
    left, top, right, bottom = face.getbbox(text)
    width, height = right - left, bottom - top
    centered = random.random() < 0.5
    x = (across - width) // 2 if centered else random.randint(0, max(0, across - width))
    y = (down - height) // 2 if centered else random.randint(0, max(0, down - height))
    ImageDraw.Draw(image).text((x - left, y - top), text, font=face, fill=ink)
    ends = [face.getlength(text[:i]) for i in range(len(text) + 1)]
    return [(x - left + (a + b) / 2, y + height / 2) for a, b in zip(ends, ends[1:])]


def near(color, by=10):
    return tuple(min(255, max(0, part + random.randint(-by, by))) for part in color)


def scaled(image):
    """As the server shrinks pictures, or nearly so; sometimes after JPEG, sometimes with noise."""
    if random.random() < 0.12:
        squeezed = io.BytesIO()
        image.save(squeezed, "JPEG", quality=random.randint(45, 92))
        image = Image.open(squeezed).convert("RGB")
    if image.size != (SIZE, SIZE):
        # llama.cpp takes four neighbors and no more, however much it shrinks.
        image = image.transform((SIZE, SIZE), Image.AFFINE, stretch(image.size), Image.BILINEAR) if random.random() < 0.7 else image.resize((SIZE, SIZE), Image.BICUBIC)
    pixels = np.asarray(image)
    if random.random() < 0.08:
        noise = np.random.randint(-8, 9, pixels.shape)
        pixels = np.clip(pixels.astype(np.int16) + noise, 0, 255).astype(np.uint8)
    return pixels


def stretch(size):
    return size[0] / SIZE, 0, 0, 0, size[1] / SIZE, 0
