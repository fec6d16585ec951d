#!/bin/sh
# Leaves sixty sleepers in as many sessions.
cat >/dev/null
i=0
while [ $i -lt 60 ]; do sleep 600 </dev/null >/dev/null 2>&1 & i=$((i+1)); done
echo '{"ok":true}'
