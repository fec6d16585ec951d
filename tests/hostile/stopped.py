#!/usr/bin/python3
# "child": leaves a stopped child behind and answers. "parent": a child stops the tool again and again.
# "tty": is stopped as by a terminal. "traced": asks to be traced, which nobody does.
import os, signal, sys, time
sys.stdin.read()
how = sys.argv[1]
if how == "child":
    child = os.fork()
    if child == 0:
        os.kill(os.getpid(), signal.SIGSTOP)
        time.sleep(600)
    os.waitpid(child, os.WUNTRACED)
    print('{"ok":true}')
elif how == "parent":
    tool = os.getpid()
    if os.fork() == 0:
        while True:
            os.kill(tool, signal.SIGSTOP)
            time.sleep(0.001)
    while True: time.sleep(1)
else:
    os.kill(os.getpid(), signal.SIGTSTP)
    os.kill(os.getpid(), signal.SIGTTIN)
    time.sleep(0.1)
    print('{"ok":true}')
