"""Lets a program stand still, to be looked at from another terminal."""

import os
import sys


def if_asked():
    if "--wait" in sys.argv:
        print(f"process {os.getpid()} waits for Enter", flush=True)
        sys.stdin.readline()
