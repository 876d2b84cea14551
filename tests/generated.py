"""Writes files that are committed, or with `--check` says which of them are not what would be written.

A script hands over all its files and ends with `write_or_check`. Pictures whose bytes differ are compared by their
pixels: encoders pack the same pixels differently from version to version.
"""
import io, sys


def same_pixels(one, other):
    """Whether two picture files decode to the same frames; false for what cannot be decoded."""
    from PIL import Image, ImageSequence

    def frames(data):
        with Image.open(io.BytesIO(data)) as picture:
            return [(frame.size, frame.convert("RGBA").tobytes()) for frame in ImageSequence.Iterator(picture)]
    try:
        return frames(one) == frames(other)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        return False


def write_or_check(files, same=same_pixels):
    """`files` maps paths to bytes; `same` decides about those whose bytes differ. Ends the script."""
    check = "--check" in sys.argv[1:]
    stale = []
    for path, data in files.items():
        if not check:
            path.write_bytes(data)
        elif not path.exists() or (path.read_bytes() != data and not same(path.read_bytes(), data)):
            stale.append(path)
    for path in stale:
        print(f"{path} is not what {sys.argv[0]} writes")
    print(f"{len(files)} files {'checked' if check else 'written'}")
    sys.exit(bool(stale))
