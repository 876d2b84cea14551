"""Puts the letters, digits and marks of DejaVu Sans Condensed (U+0020 to U+00FF) into Droid Sans Fallback.

    pip install fonttools
    python with_letters.py DroidSansFallback.ttf DejaVuSansCondensed.ttf DroidSansFallback-Letters.ttf

Documents that name a font of the Far East and do not hold it are written with one font, which needs both.
"""
import sys

from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.pens.transformPen import TransformPen
from fontTools.pens.ttGlyphPen import TTGlyphPen
from fontTools.ttLib import TTFont

base, donor = TTFont(sys.argv[1]), TTFont(sys.argv[2])
scale = base["head"].unitsPerEm / donor["head"].unitsPerEm
names, glyphs = donor.getBestCmap(), donor.getGlyphSet()
order, known = base.getGlyphOrder(), base.getBestCmap()
for code in range(0x20, 0x100):
    if code in known or code not in names:
        continue
    recorded = DecomposingRecordingPen(glyphs)
    glyphs[names[code]].draw(recorded)
    pen = TTGlyphPen(None)
    recorded.replay(TransformPen(pen, (scale, 0, 0, scale, 0, 0)))
    name = f"letter{code:02X}"
    order.append(name)
    glyph = base["glyf"].glyphs[name] = pen.glyph()
    glyph.recalcBounds(base["glyf"])
    advance = round(donor["hmtx"].metrics[names[code]][0] * scale)
    base["hmtx"].metrics[name] = (advance, getattr(glyph, "xMin", 0))
    for table in base["cmap"].tables:
        if table.isUnicode():
            table.cmap[code] = name
base.setGlyphOrder(order)
base["glyf"].glyphOrder = order
if "vmtx" in base:
    for name in order[len(known):]:
        base["vmtx"].metrics.setdefault(name, (base["head"].unitsPerEm, 0))
for record in base["name"].names:
    if record.nameID in (1, 3, 4, 6):
        text = str(record).replace("Droid Sans Fallback", "Droid Sans Fallback Letters")
        base["name"].setName(text.replace("DroidSansFallback", "DroidSansFallbackLetters"), record.nameID, record.platformID, record.platEncID, record.langID)
base["head"].modified = base["head"].created
base.recalcTimestamp = False
base.save(sys.argv[3])
