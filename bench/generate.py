#!/usr/bin/env python3
"""Draws the inputs of the speed bench. Same bytes every time, no browser, no download.

usage: generate.py DIR

photo12.jpg   4000x3000  "dead leaves" scene (power-law sized, occluding, textured shapes: the
                         classic model of natural image statistics), lens blur, sensor grain
ui4k.png      3840x2160  a dense screen at scale 2: code, tables, chat, charts, one photo pane
board48.png   8000x6000  the same panes as one endless board
ui800.png     800x600    a small screen at scale 1
"""

import random
import sys
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

FONTS = Path("/usr/share/fonts/truetype/dejavu")
VOCABULARY = (
    "agent image token render cache budget request stream provider message result window decode "
    "resize encode ladder quality upload session record blob gateway policy retention screenshot "
    "button panel cursor scroll click invoice customer balance region latency error retry queue"
).split()


def fractal(rng, height, width, octaves):
    """1/f noise from bicubically enlarged random grids, in 0..1."""
    total = np.zeros((height, width), np.float32)
    amplitude, weight, cells = 1.0, 0.0, 4
    for _ in range(octaves):
        grid = rng.random((max(2, cells * height // width), cells), np.float32)
        total += amplitude * np.asarray(
            Image.fromarray(grid, "F").resize((width, height), Image.BICUBIC)
        )
        weight += amplitude
        amplitude *= 0.55
        cells *= 2
        if cells > width // 2:
            break
    return np.clip(total / weight, 0, 1)


def photo(width, height, seed=1):
    rng = np.random.default_rng(seed)
    sky, ground = np.array([150, 185, 225]), np.array([95, 90, 70])
    t = np.linspace(0, 1, height)[:, None, None]
    base = np.broadcast_to(sky * (1 - t) + ground * t, (height, width, 3))
    image = Image.fromarray(base.astype(np.uint8), "RGB")
    draw = ImageDraw.Draw(image)
    count = width * height // 420
    low, high = 3.0, width / 9.0
    radius = (low**-2 + rng.random(count) * (high**-2 - low**-2)) ** -0.5
    order = np.argsort(-radius + rng.normal(0, high * 0.08, count))
    xs, ys = rng.random(count) * width, rng.beta(1.6, 1.0, count) * height
    hue = rng.normal(0, 1, (count, 3))
    for i in order:
        x, y, r = xs[i], ys[i], radius[i]
        a = r * (0.5 + rng.random())
        color = 60 + 130 * rng.random() + 26 * hue[i] + np.array([5, 12, -18]) * (y / height)
        color = tuple(int(v) for v in np.clip(color, 0, 255))
        if i % 3 == 0:
            corners = [(x + a, y), (x, y + r), (x - a, y + r * 0.3), (x - a * 0.2, y - r)]
            draw.polygon(corners, fill=color)
        else:
            draw.ellipse((x - a, y - r, x + a, y + r), fill=color)
    pixels = np.asarray(image, np.float32)
    shade, texture = fractal(rng, height, width, 9), fractal(rng, height, width, 11)
    pixels = pixels * (0.55 + 0.8 * shade[..., None]) + 36 * (texture[..., None] - 0.5)
    image = Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
    pixels = np.asarray(image.filter(ImageFilter.GaussianBlur(0.9)), np.float32)
    grain = rng.normal(0, 2.2, (height, width, 1)) + rng.normal(0, 1, (height, width, 3))
    return Image.fromarray(np.clip(pixels + grain, 0, 255).astype(np.uint8))


class Screen:
    """Panes of a dense screen, drawn at a device scale."""

    def __init__(self, width, height, scale, picture):
        self.rng = random.Random(42)
        self.scale, self.picture = scale, picture
        self.image = Image.new("RGB", (width, height), "#f3f4f6")
        self.draw = ImageDraw.Draw(self.image)
        self.sans = {s: self.font("DejaVuSans.ttf", s) for s in (12, 13, 15)}
        self.mono = self.font("DejaVuSansMono.ttf", 12)
        self.panes(width // scale, height // scale)

    def font(self, name, size):
        return ImageFont.truetype(str(FONTS / name), size * self.scale)

    def words(self, count):
        return " ".join(self.rng.choice(VOCABULARY) for _ in range(count))

    def box(self, x, y, w, h, fill, outline=None, radius=0):
        s = self.scale
        corners = (x * s, y * s, (x + w) * s - 1, (y + h) * s - 1)
        self.draw.rounded_rectangle(corners, radius * s, fill, outline, s)

    def text(self, x, y, words, fill="#1f2937", font=None):
        s = self.scale
        self.draw.text((x * s, y * s), words, fill, font or self.sans[13])

    def gradient(self, x, y, w, h, left, right):
        s = self.scale
        t = np.linspace(0, 1, w * s)[None, :, None]
        row = np.array(left) * (1 - t) + np.array(right) * t
        strip = np.broadcast_to(row, (h * s, w * s, 3)).astype(np.uint8)
        self.image.paste(Image.fromarray(strip), (x * s, y * s))

    def panes(self, width, height):
        self.gradient(0, 0, width, 44, (30, 58, 138), (124, 58, 237))
        self.text(18, 12, "Console   File   Edit   View   Go   Run   Help", "#ffffff")
        columns = max(1, width // 480)
        pane = width // columns
        kinds = [self.code, self.table, self.chat, self.board]
        for row in range(-(-(height - 44) // 488)):
            for column in range(columns):
                x, y = column * pane + 4, 48 + row * 488
                w, h = pane - 8, min(480, height - y - 4)
                if h < 40:
                    continue
                self.box(x, y, w, h, "#ffffff", "#d1d5db", 8)
                self.text(x + 8, y + 8, self.words(3).title(), font=self.sans[15])
                kinds[(row * columns + column) % 4](x + 8, y + 32, w - 16, h - 40)

    def code(self, x, y, w, h):
        self.box(x, y, w, h, "#0d1117")
        for line in range((h - 8) // 15):
            top = y + 4 + line * 15
            self.text(x + 4, top, f"{line + 1:3d}", "#6e7681", self.mono)
            left = x + 34 + 14 * self.rng.randint(0, 4)
            parts = [
                (self.rng.choice(["let", "fn", "if", "match", "return", "for"]), "#ff7b72"),
                (f"{self.words(1)}_{self.words(1)} =", "#c9d1d9"),
                (f"{self.rng.randint(0, 9999)};", "#79c0ff"),
                (f"// {self.words(self.rng.randint(1, 3))}", "#8b949e"),
            ]
            for words, color in parts:
                self.text(left, top, words, color, self.mono)
                left += 7.3 * (len(words) + 1)

    def table(self, x, y, w, h):
        states = {"ok": "#dcfce7", "warn": "#fef9c3", "fail": "#fee2e2"}
        for row in range(h // 20):
            top = y + row * 20
            self.box(x, top, w, 20, "#f9fafb" if row % 2 else "#ffffff")
            state = self.rng.choice(list(states))
            self.box(x + 270, top + 2, 44, 16, states[state], None, 8)
            cells = [
                (0, f"INV-{self.rng.randint(10000, 99999)}"),
                (80, self.words(2).title()[:14]),
                (190, f"${self.rng.randint(1, 99999):,}"),
                (276, state),
                (330, self.words(2)[:16]),
            ]
            for left, words in cells:
                self.text(x + 4 + left, top + 3, words, font=self.sans[12])

    def chat(self, x, y, w, h):
        for row in range(h // 17):
            self.text(x, y + row * 17, self.words(8)[: w // 8])

    def board(self, x, y, w, h):
        s = self.scale
        if self.rng.random() < 0.5:
            crop = self.picture.resize((w * s, 200 * s), Image.LANCZOS)
            self.image.paste(crop.crop((0, 0, w * s, min(200, h) * s)), (x * s, y * s))
        else:
            self.gradient(x, y, w, min(200, h), (255, 255, 255), (222, 230, 255))
            for left in range(4, w - 18, 22):
                bar = self.rng.randint(10, 160)
                if h > 200:
                    self.box(x + left, y + 200 - bar, 14, bar, "#99ccff")
        for row in range(max(0, (h - 210) // 17)):
            self.text(x, y + 208 + row * 17, self.words(8)[: w // 8])


def main():
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    scene = photo(4000, 3000)
    scene.save(out / "photo12.jpg", quality=92, subsampling="4:2:0")
    for name, width, height, scale in [
        ("ui4k", 3840, 2160, 2),
        ("board48", 8000, 6000, 2),
        ("ui800", 800, 600, 1),
    ]:
        Screen(width, height, scale, scene).image.save(out / f"{name}.png", compress_level=6)


if __name__ == "__main__":
    main()
