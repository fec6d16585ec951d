#!/usr/bin/python3
# Takes memory: "self" more than there is; "child" in a child; "hidden" in a grandchild whose death nobody is told of;
# "waits" in a child, and then waits until the deadline; "near" most of what there is, and answers;
# "caught" runs into a limit of its own and says so; "crash" most of it, and kills itself; "slow" more and more of it.
import os, resource, signal, sys, time
sys.stdin.read()
how = sys.argv[1]
def take(megabytes):
    block = bytearray(megabytes << 20)
    for at in range(0, len(block), 4096): block[at] = 1
    return block
if how == "self": take(400)
elif how == "child":
    if os.fork() == 0:
        take(400)
        os._exit(0)
    os.wait()
elif how == "hidden":
    if os.fork() == 0:
        if os.fork() == 0:
            take(400)
            os._exit(0)
        os.wait()
        os._exit(0)
    os.wait()
elif how == "waits":
    if os.fork() == 0:
        take(400)
    time.sleep(600)
elif how == "near":
    for _ in range(20):
        block = take(36)
        del block
elif how == "caught":
    resource.setrlimit(resource.RLIMIT_AS, (48 << 20, 48 << 20))
    try: take(400)
    except MemoryError: sys.exit(3)
elif how == "crash":
    block = take(36)
    os.kill(os.getpid(), signal.SIGKILL)
elif how == "slow":
    kept = []
    while True: kept.append(take(1))
print('{"ok":true}')
