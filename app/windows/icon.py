"""icon.py ICON PNG...: joins pictures of different sizes to a Windows icon."""

import struct
import sys

pictures = [open(name, "rb").read() for name in sys.argv[2:]]
icon = struct.pack("<HHH", 0, 1, len(pictures))
at = len(icon) + 16 * len(pictures)
for picture in pictures:
    width, height = struct.unpack(">II", picture[16:24])
    icon += struct.pack("<BBBBHHII", width % 256, height % 256, 0, 0, 1, 32, len(picture), at)
    at += len(picture)
open(sys.argv[1], "wb").write(icon + b"".join(pictures))
