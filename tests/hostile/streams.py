#!/usr/bin/python3
# Does odd things to its streams. "swap": prints on standard input. "close": closes all and goes on until it ends well.
# "nonblock": makes its output non-blocking and prints much. "late": a child prints after the tool has ended.
# "cloexec": hands its output to a program and ends. "reopen": reads and prints by path. "truncate": truncates its output.
import fcntl, os, sys, time
how = sys.argv[1]
if how == "swap":
    try: os.write(0, b'{"wrong":true}')
    except OSError: pass
    print('{"ok":true}')
elif how == "close":
    for fd in (0, 1, 2): os.close(fd)
    time.sleep(0.2)
elif how == "nonblock":
    fcntl.fcntl(1, fcntl.F_SETFL, os.O_NONBLOCK)
    left = b'"' + b"z" * 1000000 + b'"'
    while left:
        try: left = left[os.write(1, left):]
        except BlockingIOError: time.sleep(0.001)
elif how == "late":
    if os.fork() == 0:
        time.sleep(0.1)
        os.write(1, b'"late"')
        os._exit(0)
elif how == "cloexec":
    if os.fork() == 0: os.execv("/bin/sh", ["sh", "-c", "sleep 0.05; echo '{\"ok\":true}'"])
elif how == "reopen":
    size = len(open("/dev/stdin", "rb").read())
    open("/proc/self/fd/1", "w").write('{"n":%d}' % size)
elif how == "truncate":
    try: os.ftruncate(1, 0)
    except OSError: pass
    try: os.lseek(1, 0, 0)
    except OSError: pass
    print('{"ok":true}')
