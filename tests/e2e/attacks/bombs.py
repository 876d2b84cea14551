"""Bodies that become 64 MiB of spaces when they are decoded, in every content encoding, written by hand where Python has
no encoder. `noise` comes before the spaces: with 200 KiB of it a body is no denser than a conversation may be.
"""
import struct, zlib

MIB = 1 << 20
# 64 MiB of spaces in brotli, by Node's encoder (quality 9, window 22).
SPACES = bytes.fromhex(
    "cbffff3f002440e2b14072effff8ffff078004401c1680eefd1fffffff00900088c302d0bdffe3ffff1f001200715800baf77ffcffff034002"
    "200e0b40f7fe8fffff7f004800c46101e8defff1ffff0f000980382c00ddfbbffcffff032001108705a07bff07")


def zlib_coded(noise, window):
    coder = zlib.compressobj(9, zlib.DEFLATED, window)
    return coder.compress(noise) + b"".join(coder.compress(b" " * MIB) for _ in range(64)) + coder.flush()


def zstd(noise):
    """One frame with a window of 8 MiB: raw blocks, then blocks of one byte each."""
    size = 128 << 10
    blocks = [(0, len(data), data) for data in (noise[at:at + size] for at in range(0, len(noise), size))]
    blocks += [(1, size, b" ")] * (64 * MIB // size)
    out = b"\x28\xb5\x2f\xfd\0" + bytes([(23 - 10) << 3])
    for number, (kind, length, data) in enumerate(blocks, 1):
        out += struct.pack("<I", (number == len(blocks)) | kind << 1 | length << 3)[:3] + data
    return out


def brotli(noise):
    """Uncompressed meta-blocks between the window of `SPACES` and the rest of it, bit by bit."""
    rest = int.from_bytes(SPACES, "little")
    bits, length = rest & 15, 4
    for at in range(0, len(noise), 1 << 16):
        data = noise[at:at + (1 << 16)]
        bits |= ((len(data) - 1) << 3 | 1 << 19) << length
        length = -(-(length + 20) // 8) * 8
        bits |= int.from_bytes(data, "little") << length
        length += 8 * len(data)
    bits |= rest >> 4 << length
    return bits.to_bytes(-(-bits.bit_length() // 8), "little")


BOMBS = {
    "gzip": lambda noise: zlib_coded(noise, 31),
    "deflate": lambda noise: zlib_coded(noise, 15),
    "br": brotli,
    "zstd": zstd,
}
