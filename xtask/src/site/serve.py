"""TileLang, then a library that needs the HIP runtime.

With --runtime-first it does what helps; with --wait it stands still at the end.
"""

import ctypes
import pathlib
import sys

import waiting

site = pathlib.Path(__file__).absolute().parent

if "--runtime-first" in sys.argv:
    ctypes.CDLL(str(site / "torch/lib/libamdhip64.so.7"), ctypes.RTLD_GLOBAL)

# TVM opens its libraries so.
ctypes.CDLL(str(site / "tilelang/lib/libhip_stub.so"), ctypes.RTLD_GLOBAL)
extension = ctypes.CDLL(str(site / "extension/_C.so"))
print("largest block:", extension.largest_block(), "threads", flush=True)
waiting.if_asked()
