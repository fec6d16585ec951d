#!/usr/bin/python3
# Becomes two processes: one answers, the other is a daemon by the book.
import os, sys, time
sys.stdin.read()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        null = os.open("/dev/null", os.O_RDWR)
        for fd in (0, 1, 2): os.dup2(null, fd)
        time.sleep(600)
    os._exit(0)
os.wait()
print('{"ok":true}')
