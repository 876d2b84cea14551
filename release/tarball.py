"""Archives whose bytes depend on nothing but the names, modes and bytes of the files: sorted, one time, no owner.

A tree is a dictionary from a path to `(bytes, mode)`.
"""
import gzip, io, lzma, tarfile, time, zipfile

from facts import commit_time, level

FILE, PROGRAM = 0o644, 0o755


def tar(tree, prefix=""):
    """An uncompressed tar of the files and of the folders that hold them."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        folders = set()
        for path in sorted(tree):
            parts = path.split("/")[:-1]
            for depth in range(1, len(parts) + 1):
                folder = "/".join(parts[:depth])
                if folder not in folders:
                    folders.add(folder)
                    archive.addfile(entry(f"{prefix}{folder}/", tarfile.DIRTYPE, PROGRAM, 0))
            data, mode = tree[path]
            archive.addfile(entry(prefix + path, tarfile.REGTYPE, mode, len(data)), io.BytesIO(data))
    return out.getvalue()


def entry(name, kind, mode, size):
    info = tarfile.TarInfo(name)
    info.type, info.mode, info.size, info.mtime = kind, mode, size, commit_time()
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    return info


def gz(data):
    out = io.BytesIO()
    # No name and no time in the header.
    with gzip.GzipFile(filename="", fileobj=out, mode="wb", compresslevel=level(), mtime=0) as file:
        file.write(data)
    return out.getvalue()


def xz(data):
    return lzma.compress(data, preset=min(level(), 6), check=lzma.CHECK_CRC64)


def zipped(tree):
    """A zip; the order is that of the tree, because a wheel wants its list of files last."""
    out = io.BytesIO()
    # A zip counts from 1980, in steps of two seconds.
    moment = max(time.gmtime(commit_time())[:6], (1980, 1, 1, 0, 0, 0))
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=level()) as archive:
        for path, (data, mode) in tree.items():
            info = zipfile.ZipInfo(path, moment)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3
            info.external_attr = (0o100000 | mode) << 16
            archive.writestr(info, data)
    return out.getvalue()
