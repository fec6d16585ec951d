#!/usr/bin/python3
# Answers only when it is asked to end, and then ends with the code it was given.
import os, signal, sys, time
def late(*_):
    os.write(1, b'{"late":true}')
    os._exit(int(sys.argv[1]))
signal.signal(signal.SIGTERM, late)
sys.stdin.read()
while True: time.sleep(1)
