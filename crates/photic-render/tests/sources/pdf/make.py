"""Makes the PDF documents of this folder: `python make.py`, with pikepdf, reportlab and pillow.

They are what Rust code cannot write in a few lines: encryption, embedded fonts, coded pictures.
"""

import io
import struct
from pathlib import Path

import pikepdf
from PIL import Image, ImageDraw
from pikepdf import Array, Dictionary, Name, Stream, String
from reportlab.lib import colors
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen import canvas

HERE = Path(__file__).parent
FONTS = HERE / "../../../fonts"
SIZE = (240, 160)


def page(draw):
    out = io.BytesIO()
    sheet = canvas.Canvas(out, pagesize=SIZE, invariant=1)
    draw(sheet)
    sheet.showPage()
    sheet.save()
    return pikepdf.open(io.BytesIO(out.getvalue()))


def save(document, name, **options):
    document.save(HERE / f"{name}.pdf", deterministic_id="encryption" not in options, **options)


def letter(sheet, words="Hamburgefonstiv"):
    sheet.setFont("Helvetica", 20)
    sheet.drawString(15, 120, words)
    sheet.setFillColorRGB(0.1, 0.4, 0.8)
    sheet.rect(15, 20, 60, 60, stroke=0, fill=1)


def encrypted():
    for name, user, version, aes in [
        ("encrypted_rc4_40", "", 2, False),
        ("encrypted_rc4_128", "", 3, False),
        ("encrypted_aes_128", "", 4, True),
        ("encrypted_aes_256", "", 6, True),
        ("password_aes_256", "secret", 6, True),
        ("password_rc4_128", "secret", 3, False),
    ]:
        lock = pikepdf.Encryption(
            owner="owner", user=user, R=version, aes=aes, metadata=version >= 4
        )
        save(page(lambda sheet: letter(sheet, "Opened")), name, encryption=lock)


def embedded_fonts():
    pdfmetrics.registerFont(TTFont("Serif", FONTS / "DejaVuSerifCondensed.ttf"))
    pdfmetrics.registerFont(TTFont("Mono", FONTS / "DejaVuSansMono.ttf"))

    def draw(sheet):
        for top, font, words in [
            (130, "Serif", "Ελληνικά, Кириллица"),
            (105, "Serif", "fi ffl — “quotes” €"),
            (80, "Mono", "fn main() { 0O1lI }"),
            (55, "Mono", "├── ∑ ≤ → ✓"),
        ]:
            sheet.setFont(font, 17)
            sheet.drawString(12, top, words)

    save(page(draw), "embedded_fonts", object_stream_mode=pikepdf.ObjectStreamMode.generate)


def motif(mode="RGB"):
    picture = Image.new("RGB", (64, 48), "white")
    pen = ImageDraw.Draw(picture)
    for x in range(64):
        pen.line([(x, 0), (x, 23)], fill=(x * 4, 255 - x * 4, 90))
    pen.ellipse([8, 14, 40, 46], fill=(220, 30, 40))
    pen.rectangle([36, 26, 60, 44], fill=(20, 60, 200))
    return picture.convert(mode)


def coded(mode, kind, **options):
    out = io.BytesIO()
    motif(mode).save(out, kind, **options)
    return out.getvalue()


def strokes():
    """Ink is 1, as in the codes of two colors."""
    picture = Image.new("1", (64, 48), 0)
    pen = ImageDraw.Draw(picture)
    pen.ellipse([4, 4, 44, 44], outline=1, width=4)
    pen.line([(20, 40), (60, 6)], fill=1, width=3)
    pen.rectangle([44, 28, 60, 44], fill=1)
    return picture


def fax():
    out = io.BytesIO()
    strokes().save(out, "TIFF", compression="group4")
    picture = Image.open(io.BytesIO(out.getvalue()))
    [start], [length] = picture.tag_v2[273], picture.tag_v2[279]
    return out.getvalue()[start : start + length]


def jbig2():
    """A page with one region, coded as a fax is."""
    def segment(number, kind, body):
        return struct.pack(">IBBBI", number, kind, 0, 1, len(body)) + body

    width, height = 64, 48
    information = struct.pack(">IIIIBH", width, height, 0, 0, 0, 0)
    region = struct.pack(">IIIIB", width, height, 0, 0, 0) + bytes([1]) + fax()
    return segment(0, 48, information) + segment(1, 38, region)


def pictures():
    rgb, gray, cmyk = Name.DeviceRGB, Name.DeviceGray, Name.DeviceCMYK
    parameters = Dictionary(K=-1, Columns=64, Rows=48)
    inverted = Array([1, 0] * 4)
    for name, data, code, space, bits, more in [
        ("jpeg_color", coded("RGB", "JPEG", quality=90), "DCTDecode", rgb, 8, {}),
        ("jpeg_gray", coded("L", "JPEG", quality=90), "DCTDecode", gray, 8, {}),
        ("jpeg_progressive", coded("RGB", "JPEG", progressive=True), "DCTDecode", rgb, 8, {}),
        ("jpeg_cmyk", coded("CMYK", "JPEG", quality=90), "DCTDecode", cmyk, 8,
         {"Decode": inverted}),
        ("jpeg_2000", coded("RGB", "JPEG2000"), "JPXDecode", rgb, 8, {}),
        ("fax", fax(), "CCITTFaxDecode", gray, 1, {"DecodeParms": parameters}),
        ("jbig2", jbig2(), "JBIG2Decode", gray, 1, {}),
    ]:
        document = pikepdf.new()
        sheet = document.add_blank_page(page_size=(160, 120))
        picture = Stream(document, data)
        about = {"Type": Name.XObject, "Subtype": Name.Image, "Width": 64, "Height": 48,
                 "ColorSpace": space, "BitsPerComponent": bits, "Filter": Name("/" + code)}
        for key, value in {**about, **more}.items():
            picture[Name("/" + key)] = value
        sheet.Resources = Dictionary(XObject=Dictionary(X=document.make_indirect(picture)))
        sheet.Contents = Stream(document, b"q 140 0 0 105 10 7 cm /X Do Q")
        save(document, name)


def form():
    def draw(sheet):
        sheet.setFont("Helvetica", 12)
        sheet.drawString(15, 135, "Name")
        fields = sheet.acroForm
        fields.textfield(name="name", value="Ada Lovelace", x=60, y=127, width=160, height=22,
                         fontSize=12, borderColor=colors.black, fillColor=colors.whitesmoke)
        sheet.drawString(45, 98, "agreed")
        fields.checkbox(name="agreed", checked=True, x=15, y=92, size=20)
        sheet.drawString(145, 98, "refused")
        fields.checkbox(name="refused", checked=False, x=115, y=92, size=20)
        fields.radio(name="how", value="one", selected=True, x=15, y=60, size=20)
        fields.radio(name="how", value="two", selected=False, x=45, y=60, size=20)
        fields.choice(name="color", value="green", options=["red", "green"], x=115, y=58,
                      width=80, height=22, fontSize=12)

    document = page(draw)
    save(document, "form")
    for note in document.pages[0].Annots:
        if Name.AP in note:
            del note[Name.AP]
    save(document, "form_without_appearance")


def layers():
    document = pikepdf.new()
    sheet = document.add_blank_page(page_size=SIZE)
    shown, hidden = (
        document.make_indirect(Dictionary(Type=Name.OCG, Name=String(name)))
        for name in ("shown", "hidden")
    )
    document.Root.OCProperties = Dictionary(
        OCGs=Array([shown, hidden]), D=Dictionary(OFF=Array([hidden]))
    )
    sheet.Resources = Dictionary(Properties=Dictionary(A=shown, B=hidden))
    sheet.Contents = Stream(
        document,
        b"/OC /A BDC 0 0.5 0 rg 20 20 90 120 re f EMC /OC /B BDC 1 0 0 rg 130 20 90 120 re f EMC",
    )
    save(document, "layers")


for make in (encrypted, embedded_fonts, pictures, form, layers):
    make()
