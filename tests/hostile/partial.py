#!/usr/bin/python3
# Prints a step and a word for people, and then nothing more.
import sys, time
sys.stdin.read()
print('{"step":1}', flush=True)
print("opening source 7", file=sys.stderr, flush=True)
time.sleep(600)
