"""Draws orders.png: a long page, as a full-page screenshot gives it. `--check` compares the committed file by its pixels."""
import io, pathlib, sys
from PIL import Image, ImageDraw, ImageFont

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))
from generated import write_or_check  # noqa: E402

page = Image.new("P", (1280, 3720), 0)
page.putpalette([255, 255, 255, 34, 49, 63, 238, 241, 244, 30, 30, 30])
draw = ImageDraw.Draw(page)
# Letters without soft edges keep the file small.
draw.fontmode = "1"
font = ImageFont.truetype("DejaVuSans.ttf", 14)
draw.rectangle((0, 0, 1280, 56), fill=1)
draw.text((24, 20), "Orders of the last 90 days", fill=0, font=font)
for row in range(100):
    y = 80 + row * 36
    draw.rectangle((24, y, 1256, y + 34), fill=2 if row % 2 else 0)
    cells = [f"#{10421 + row * 37}", f"customer {row * 7919 % 1000:03}", f"{row * 104729 % 99900 / 100:.2f} EUR"]
    cells += [("paid", "shipped", "returned", "on hold")[row * 31 % 4], "two items, standard delivery to the door"]
    for column, cell in enumerate(cells):
        draw.text((36 + column * 200, y + 9), cell, fill=3, font=font)
picture = io.BytesIO()
page.save(picture, "PNG", optimize=True)
write_or_check({HERE / "orders.png": picture.getvalue()})
