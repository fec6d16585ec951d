#!/usr/bin/python3
# A tree of processes that all take memory, and a root that hides what became of them.
import os, sys, time
sys.stdin.read()
def grow(depth):
    if depth == 0:
        block = bytearray(12 << 20)
        for at in range(0, len(block), 4096): block[at] = 1
        time.sleep(1)
        os._exit(0)
    children = []
    for _ in range(3):
        pid = os.fork()
        if pid == 0:
            grow(depth - 1)
            os._exit(0)
        children.append(pid)
    for pid in children: os.waitpid(pid, 0)
grow(2)
os.write(1, b'{"ok":true}')
