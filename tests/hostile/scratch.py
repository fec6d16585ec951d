#!/usr/bin/python3
# Fills its folders with what is hard to remove: deep folders, odd names, no rights, links, FIFOs, a locked file.
import fcntl, os, socket, sys
sys.stdin.read()
os.chdir("/tmp")
for _ in range(400):
    os.mkdir("d"); os.chdir("d")
os.chdir("/work")
for name in (b"\xff\xfe", b"new\nline", b"-rf", b" ", b"a" * 255): open(os.path.join(b"/work", name), "w").close()
os.symlink("/", "root"); os.mkfifo("fifo"); os.link("fifo", "hard")
socket.socket(socket.AF_UNIX).bind("/work/socket")
held = open("/dev/shm/held", "w"); fcntl.flock(held, fcntl.LOCK_EX)
os.mkdir("shut"); os.chmod("shut", 0)
out = os.environ["TOOLCELL_OUT"]
os.mkdir(out + "/shut"); os.chmod(out + "/shut", 0)
print('{"ok":true}')
