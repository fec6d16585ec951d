#!/usr/bin/python3
# Prints for ever: "drip" a byte at times, "flood" all it can, "stderr" all it can on standard error,
# "closed" the same with standard output closed, "both" on both, "unread" without reading its input.
import os, sys, time
how = sys.argv[1]
if how != "unread": sys.stdin.read()
if how == "closed": os.close(1)
block = b"y" * 65536
while True:
    if how in ("drip", "unread"):
        os.write(1, b"x")
        time.sleep(0.1)
    if how in ("flood", "both"): os.write(1, block)
    if how in ("stderr", "closed", "both"): os.write(2, block)
