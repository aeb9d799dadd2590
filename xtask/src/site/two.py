"""Two packages, each with a copy of the HIP runtime."""

import ctypes
import pathlib

site = pathlib.Path(__file__).absolute().parent
for package in ["one.libs", "other.libs"]:
    (runtime,) = (site / package).glob("libamdhip64-*")
    ctypes.CDLL(str(runtime))
