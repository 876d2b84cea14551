"""Reads the list of crates that `cargo auditable` put into a program: a compressed section `.dep-v0` of an ELF, Mach-O
or PE file."""
import json, pathlib, struct, zlib

NAME = b".dep-v0"


def crates_of(program):
    """The packages of the section, or `None` if the program has none."""
    data = pathlib.Path(program).read_bytes()
    section = section_of(data)
    return None if section is None else json.loads(zlib.decompressobj().decompress(section))["packages"]


def section_of(data):
    if data[:4] == b"\x7fELF":
        return elf(data)
    if data[:2] == b"MZ":
        return pe(data)
    if data[:4] == b"\xcf\xfa\xed\xfe":
        return mach_o(data)
    raise SystemExit("error: this is no ELF, PE or 64-bit Mach-O program")


def elf(data):
    """64 bits, little endian: every target of a release is."""
    table, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", data, table + index * size) for index in range(count)]
    strings = headers[names][4]
    for name, _, _, _, offset, length in headers:
        start = strings + name
        if data[start:data.index(b"\0", start)] == NAME:
            return data[offset:offset + length]
    return None


def pe(data):
    start, = struct.unpack_from("<I", data, 0x3C)
    count, = struct.unpack_from("<H", data, start + 6)
    optional, = struct.unpack_from("<H", data, start + 20)
    for index in range(count):
        at = start + 24 + optional + 40 * index
        if data[at:at + 8].rstrip(b"\0") == NAME:
            virtual, _, length, offset = struct.unpack_from("<IIII", data, at + 8)
            return data[offset:offset + min(virtual, length)]
    return None


def mach_o(data):
    commands, = struct.unpack_from("<I", data, 16)
    at = 32
    for _ in range(commands):
        kind, size = struct.unpack_from("<II", data, at)
        if kind == 0x19:
            sections, = struct.unpack_from("<I", data, at + 64)
            for index in range(sections):
                entry = at + 72 + 80 * index
                if data[entry:entry + 16].rstrip(b"\0") == NAME:
                    length, offset = struct.unpack_from("<QI", data, entry + 40)
                    return data[offset:offset + length]
        at += size
    return None
