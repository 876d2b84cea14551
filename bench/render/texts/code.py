"""Screenshots of user interfaces with known text, the same on every machine with the same font.

Each screen is a list of blocks; a block knows its rectangle and its lines, so that what a reader
got out of a view can be compared character by character.
"""

import random
from dataclasses import dataclass

from PIL import Image, ImageDraw, ImageFont

FONTS = "/usr/share/fonts/truetype/dejavu/"
WORDS = (
    "account adjust answer archive assign balance branch browser budget button cancel capture change "
    "channel choose client column commit compare confirm connect content context copy create custom "
    "dashboard database default delete deploy detail device dialog document domain download duplicate "
    "editor enable engine entry error event export failed feature field filter folder format gateway "
    "global group handle header history image import index input invoice language layer layout license "
    "limit local manage margin memory merge message metric model module monitor network notice object "
    "option order output package panel payment pending permission pipeline policy preview private profile "
    "project public quality queue ready record region release remote report request reset resource "
    "response restore result review schedule screen search section secure select sender server service "
    "session settings share signal size source status storage stream submit summary support switch system "
    "table target task template theme ticket token trace update upload usage value version video view "
    "warning window workspace"
).split()


@dataclass
class Block:
    """A column of text lines."""

    rect: tuple  # x, y, width, height
    lines: list
    size: int  # font size in pixels
    leading: float


def sentence(rng, font, width):
    """As many words as fit the width, with a number here and there."""
    words = []
    while True:
        word = rng.choice(WORDS)
        if rng.random() < 0.12:
            word = f"{rng.randint(10, 9999)}"
        if not words:
            word = word.capitalize()
        if font.getlength(" ".join([*words, word])) > width:
            return " ".join(words)
        words.append(word)


def block(draw, rng, rect, size, ink, face="DejaVuSans.ttf", leading=1.5):
    x, y, width, height = rect
    font = ImageFont.truetype(FONTS + face, size)
    step = round(size * leading)
    lines = []
    at = y
    while at + step <= y + height:
        line = sentence(rng, font, width)
        draw.text((x, at), line, fill=ink, font=font)
        lines.append(line)
        at += step
    return Block(rect, lines, size, leading)


def desktop(seed=1, size=(3840, 2160), unit=2, text=14):
    """A desktop application at a device factor: sidebar, table, editor, dark console."""
    rng = random.Random(seed)
    w, h = size
    image = Image.new("RGB", size, "#f4f5f7")
    draw = ImageDraw.Draw(image)
    u = unit
    draw.rectangle((0, 0, w, 48 * u), fill="#2b3a55")
    draw.rectangle((0, 48 * u, 260 * u, h), fill="#e6e9ef")
    blocks = [block(draw, rng, (20 * u, 14 * u, w // 2, 26 * u), (text + 2) * u, "#ffffff")]
    blocks.append(block(draw, rng, (20 * u, 70 * u, 220 * u, h - 100 * u), text * u, "#1f2937", leading=2))
    mid = 300 * u
    draw.rectangle((mid - 12 * u, 64 * u, mid + 760 * u, h // 2), fill="#ffffff", outline="#cbd2dc", width=u)
    blocks.append(block(draw, rng, (mid, 76 * u, 730 * u, h // 2 - 90 * u), text * u, "#111827"))
    draw.rectangle((mid - 12 * u, h // 2 + 20 * u, mid + 760 * u, h - 20 * u), fill="#14181f")
    rect = (mid, h // 2 + 30 * u, 730 * u, h // 2 - 60 * u)
    blocks.append(block(draw, rng, rect, (text - 1) * u, "#d6e2f0", "DejaVuSansMono.ttf"))
    right = mid + 800 * u
    for row in range(6):
        top = 64 * u + row * 160 * u
        draw.rounded_rectangle((right, top, w - 30 * u, top + 140 * u), 8 * u, fill="#ffffff", outline="#d5dae2")
        rect = (right + 16 * u, top + 12 * u, w - 70 * u - right, 30 * u)
        blocks.append(block(draw, rng, rect, (text + 4) * u, "#0b3d91", "DejaVuSans-Bold.ttf"))
        rect = (right + 16 * u, top + 50 * u, w - 70 * u - right, 80 * u)
        blocks.append(block(draw, rng, rect, (text - 1) * u, "#4b5563"))
    return image, blocks


def page(seed=2, size=(1440, 5056), text=14):
    """A long web page: heading, paragraphs in two columns, cards, a footer in small print."""
    rng = random.Random(seed)
    w, h = size
    image = Image.new("RGB", size, "#ffffff")
    draw = ImageDraw.Draw(image)
    blocks = [block(draw, rng, (60, 40, w - 120, 70), 40, "#111827", "DejaVuSans-Bold.ttf")]
    y = 160
    while y + 420 < h - 200:
        blocks.append(block(draw, rng, (60, y, w - 120, 40), 22, "#0b3d91", "DejaVuSans-Bold.ttf"))
        y += 50
        for column in range(2):
            rect = (60 + column * (w // 2 - 30), y, w // 2 - 110, 300)
            ink = "#1f2937" if column == 0 else "#4b5563"
            blocks.append(block(draw, rng, rect, text, ink))
        y += 340
    draw.rectangle((0, h - 180, w, h), fill="#14181f")
    blocks.append(block(draw, rng, (60, h - 160, w - 120, 140), text - 2, "#d6e2f0"))
    return image, blocks
