"""PNG files written by hand, for scripts that need pictures and no codec.

Every chunk can be made by itself, so that files can also be wrong on purpose. Only the level of compression depends on
the version of zlib; `stored` does without.
"""
import struct, zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"
GRAY, RGB, PALETTE, RGBA = 0, 2, 3, 6


def chunk(kind, body=b"", crc=None):
    """A chunk with its length and checksum, or with a checksum that is given."""
    crc = zlib.crc32(kind + body) if crc is None else crc
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", crc)


def header(width, height, bits=8, color=RGB, interlace=0):
    return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, color, 0, 0, interlace))


def data(rows, level=9):
    """The pixels: rows that begin with the number of their filter, compressed."""
    return chunk(b"IDAT", zlib.compress(rows, level))


def stored(rows):
    """The pixels as one block that is not compressed: the same bytes with any zlib."""
    block = b"\x01" + struct.pack("<HH", len(rows), len(rows) ^ 0xFFFF) + rows
    return chunk(b"IDAT", b"\x78\x01" + block + struct.pack(">I", zlib.adler32(rows)))


END = chunk(b"IEND")


def png(width, height, rows, bits=8, color=RGB, level=9):
    """A whole file."""
    return SIGNATURE + header(width, height, bits, color) + data(rows, level) + END


def noise(width, height, random, level=6):
    """A whole file of random pixels: large, and decoded as slowly as any."""
    return png(width, height, b"".join(b"\0" + random.randbytes(3 * width) for _ in range(height)), level=level)
