#!/usr/bin/python3
# Prints the bytes its input asks for: a head and a tail in hexadecimal, a byte so many times between them.
import json, os, sys
order = json.load(sys.stdin)
out = sys.stdout.buffer
try:
    out.write(bytes.fromhex(order["head"]))
    block = bytes([order.get("byte", 0)]) * 65536
    left = order.get("times", 0)
    while left > 0:
        out.write(block[:left])
        left -= len(block)
    out.write(bytes.fromhex(order.get("tail", "")))
    out.flush()
except BrokenPipeError:
    os._exit(9)
