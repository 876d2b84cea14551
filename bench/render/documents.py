"""PDF documents as five of the usual programs write them, drawn here so that their words are known.

Each maker writes one file; `make` writes all of them into a folder, and `reading` the pages that
are read by region, with the lines that stand on them.
"""

import io
import random
from pathlib import Path

import matplotlib

matplotlib.use("pdf")
import matplotlib.pyplot as plt
import numpy as np
import typst
from fpdf import FPDF
from PIL import Image
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4, landscape, letter
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import SimpleDocTemplate, Table, TableStyle

HERE = Path(__file__).resolve().parent
FONTS = HERE.parents[1] / "crates/photic-render/fonts"
PROSE = (HERE / "texts/prose.txt").read_text().split("\n\n")

for name in ("DejaVuSansCondensed", "DejaVuSerifCondensed"):
    pdfmetrics.registerFont(TTFont(name, FONTS / f"{name}.ttf"))


def canvas(file, size=A4):
    return Canvas(str(file), pagesize=size, invariant=1)


def wrapped(text, font, size, width):
    """The lines of a text, as they fit."""
    lines, line = [], ""
    for word in text.split():
        longer = f"{line} {word}".strip()
        if line and pdfmetrics.stringWidth(longer, font, size) > width:
            lines.append(line)
            longer = word
        line = longer
    return [*lines, line]


def page_of(file, font, size, leading, paper=A4):
    """A page full of prose; says what stands in each line, and where its upper edge is."""
    page = canvas(file, paper)
    width, height = paper
    page.setFont(font, size)
    lines, y = [], 72.0
    for paragraph in PROSE * 3:
        for line in [*wrapped(paragraph, font, size, width - 144), None]:
            if y > height - 72:
                page.save()
                return lines
            if line:
                page.drawString(72, height - y, line)
                lines.append((y - size, line))
            y += leading
    raise ValueError("too little prose for a page")


def shapes(file):
    page = canvas(file)
    page.linearGradient(60, 700, 260, 800, (colors.navy, colors.gold), extend=False)
    page.radialGradient(420, 700, 90, (colors.white, colors.crimson), extend=False)
    draw = random.Random(3)
    for number in range(40):
        page.setFillColor(colors.HexColor(draw.randrange(1 << 24)), alpha=0.5)
        page.circle(draw.uniform(80, 520), draw.uniform(400, 600), draw.uniform(8, 50), stroke=0)
    for number, dash in enumerate(([], [1, 2], [6, 3], [12, 4, 2, 4])):
        page.setDash(dash)
        page.setLineWidth(1 + number)
        page.bezier(60, 330 - 30 * number, 200, 400, 380, 200, 540, 330 - 30 * number)
    clip = page.beginPath()
    clip.circle(300, 130, 70)
    page.clipPath(clip, stroke=1)
    for x in range(220, 390, 6):
        page.line(x, 50, x + 40, 210)
    page.save()


def pictures(file):
    y, x = np.mgrid[0:300, 0:400]
    wave = np.stack([128 + 127 * np.sin(x / 30 + k) * np.cos(y / 40) for k in range(3)], axis=-1)
    photo = Image.fromarray(wave.astype(np.uint8))
    held = io.BytesIO()
    photo.save(held, "JPEG", quality=90)
    clear = photo.convert("RGBA")
    clear.putalpha(Image.fromarray(((x / 400) * 255).astype(np.uint8)))
    page = canvas(file)
    page.drawImage(ImageReader(held), 60, 500, 400, 300)
    page.setFillColor(colors.lightgreen)
    page.rect(60, 120, 400, 330, stroke=0, fill=1)
    page.drawImage(ImageReader(clear), 90, 135, 400, 300, mask="auto")
    page.save()


def table(file):
    rows = [["Step", "Tokens", "Cost", "What happened"]]
    rows += [[n, f"{n * 1334:,}", f"${n * 0.031:.2f}", PROSE[n % 9][:40]] for n in range(1, 36)]
    grid = Table(rows, repeatRows=1)
    grid.setStyle(
        TableStyle(
            [
                ("BACKGROUND", (0, 0), (-1, 0), colors.HexColor(0x26547C)),
                ("TEXTCOLOR", (0, 0), (-1, 0), colors.white),
                ("GRID", (0, 0), (-1, -1), 0.5, colors.gray),
                ("ROWBACKGROUNDS", (0, 1), (-1, -1), [colors.white, colors.whitesmoke]),
                ("ALIGN", (1, 0), (2, -1), "RIGHT"),
                ("FONTSIZE", (0, 0), (-1, -1), 9),
            ]
        )
    )
    SimpleDocTemplate(str(file), pagesize=letter, invariant=1).build([grid])


def turned(file):
    page = canvas(file, landscape(A4))
    page.setPageRotation(90)
    page.setFont("DejaVuSerifCondensed", 14)
    for number, line in enumerate(wrapped(PROSE[0], "DejaVuSerifCondensed", 14, 600)):
        page.drawString(90, 480 - 22 * number, line)
    page.save()


def form(file):
    page = canvas(file)
    page.setFont("DejaVuSansCondensed", 11)
    for number, label in enumerate(("Name", "Street", "City")):
        page.drawString(72, 743 - 40 * number, label)
        page.acroForm.textfield(name=label, x=160, y=735 - 40 * number, width=220, height=22, value=label * 3)
    page.drawString(72, 600, "Agreed")
    page.acroForm.checkbox(name="agreed", x=160, y=595, checked=True)
    page.linkURL("https://example.org/", (72, 540, 240, 560))
    page.drawString(76, 545, "a link that is not followed")
    page.save()


def chart(file, fonttype):
    matplotlib.rcParams["pdf.fonttype"] = fonttype
    figure, axes = plt.subplots(figsize=(7, 5))
    x = np.linspace(0, 10, 200)
    for k in range(1, 5):
        axes.plot(x, np.sin(x * k / 2) * np.exp(-x / 8), label=f"mode {k}")
    axes.fill_between(x, -np.exp(-x / 8), np.exp(-x / 8), alpha=0.15)
    axes.set(title="Damped oscillation", xlabel="time in seconds", ylabel="$A\\,e^{-t/\\tau}$")
    axes.legend()
    axes.grid(alpha=0.4)
    figure.savefig(file, metadata={"CreationDate": None})
    plt.close(figure)


def scatter(file):
    matplotlib.rcParams["pdf.fonttype"] = 42
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.5))
    draw = np.random.default_rng(5)
    points = draw.normal(size=(2, 400))
    left.scatter(*points, c=points[0], s=30 * np.abs(points[1]) + 5, alpha=0.6)
    right.imshow(draw.random((12, 16)), cmap="viridis", interpolation="nearest")
    right.set_title("a heat map")
    figure.savefig(file, metadata={"CreationDate": None})
    plt.close(figure)


def typeset(file, source):
    file.write_bytes(typst.compile(source.encode(), format="pdf"))


MATHEMATICS = r"""
#set page(paper: "a4")
#set heading(numbering: "1.")
= On sums
Let $a_n$ be real. If $sum_(n=1)^infinity |a_n| < infinity$, then
$ integral_0^1 f(x) dif x = lim_(n -> infinity) 1/n sum_(k=1)^n f(k/n), quad
  mat(1, 2; 3, 4) vec(x, y) = vec(5, 6), quad sqrt(1 + sqrt(2 + x^2)) $
#table(columns: 3, [*n*], [*value*], [*error*], [1], [0.500], [0.12], [2], [0.625], [0.03])
== A remark
#lorem(160)
"""

SLIDE = r"""
#set page(paper: "presentation-16-9", fill: gradient.linear(rgb("#102542"), rgb("#3f7cac"), angle: 35deg))
#set text(fill: white, size: 24pt)
= Three ways to look
#columns(2)[
- the whole page
- a *region*, drawn anew
- `line:column` of a pixel
#colbreak()
#rect(fill: rgb("#f4d35e88"), radius: 12pt, inset: 14pt)[#text(fill: black)[Not scaled: _drawn again_.]]
#circle(radius: 60pt, fill: gradient.radial(white, rgb("#ee964b")))
]
"""


def letter_of(file):
    """fpdf writes streams, fonts and cross references in a way of its own."""
    page = FPDF()
    page.add_font("sans", fname=FONTS / "DejaVuSansCondensed.ttf")
    page.add_font("sans", "B", FONTS / "DejaVuSansCondensed-Bold.ttf")
    page.add_page()
    page.set_font("sans", "B", 18)
    page.cell(0, 14, "A letter", border="B", new_x="LMARGIN", new_y="NEXT")
    page.set_font("sans", size=11)
    for paragraph in PROSE[1:4]:
        page.multi_cell(0, 6, paragraph, align="J", new_x="LMARGIN", new_y="NEXT")
        page.ln(3)
    page.output(str(file))


def scan(file):
    """A page that is nothing but a picture."""
    sheet = Image.new("L", (1240, 1754), 246)
    pixels = np.asarray(sheet).copy()
    for line in range(60):
        for word in range(12):
            left = 120 + word * 84 + (line * 37 + word * 19) % 30
            pixels[140 + line * 24 : 152 + line * 24, left : left + 56] = 40
    noise = np.random.default_rng(9).normal(0, 4, pixels.shape)
    Image.fromarray(np.clip(pixels + noise, 0, 255).astype(np.uint8)).save(file, "PDF", resolution=150)


MAKERS = {
    "prose, Helvetica not embedded": lambda file: page_of(file, "Helvetica", 11, 15),
    "prose, embedded sans": lambda file: page_of(file, "DejaVuSansCondensed", 11, 15),
    "prose, embedded serif": lambda file: page_of(file, "DejaVuSerifCondensed", 10, 13, letter),
    "table": table,
    "shapes and gradients": shapes,
    "pictures": pictures,
    "turned page": turned,
    "form and link": form,
    "chart, Type 3 fonts": lambda file: chart(file, 3),
    "chart, TrueType": lambda file: chart(file, 42),
    "scatter and heat map": scatter,
    "mathematics": lambda file: typeset(file, MATHEMATICS),
    "slide": lambda file: typeset(file, SLIDE),
    "letter": letter_of,
    "scan": scan,
}

# What is read by region: font, size, leading.
PAGES = [
    ("Helvetica", 10, 13),
    ("Times-Roman", 11, 14),
    ("DejaVuSansCondensed", 10, 13),
    ("DejaVuSerifCondensed", 11, 14),
]


def make(folder):
    """All documents: their names, and where they are."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for name, maker in MAKERS.items():
        file = folder / f"{name.replace(', ', '-').replace(' ', '-')}.pdf"
        maker(file)
        made.append((name, file))
    return made


def reading(folder):
    """Pages of prose: font, size, file, leading, and the lines with their upper edges."""
    folder.mkdir(parents=True, exist_ok=True)
    for font, size, leading in PAGES:
        file = folder / f"read-{font}.pdf"
        yield font, size, file, leading, page_of(file, font, size, leading)
