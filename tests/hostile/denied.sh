#!/bin/sh
# Is denied what it looks for, says so to people, and fails.
cat >/dev/null
cat /etc/shadow 2>/dev/null && exit 0
ls /root 2>&1 | head -1 >&2
exit 1
