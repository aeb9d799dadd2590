"""A library with logging code inside, globally, then the runtime's compiler with another
copy of that code."""

import ctypes
import pathlib

import waiting

site = pathlib.Path(__file__).absolute().parent
ctypes.CDLL(str(site / "mori/_C.so"), ctypes.RTLD_GLOBAL)
ctypes.CDLL(str(site / "rocm/libamd_comgr.so.3"))
waiting.if_asked()
