#!/bin/sh
# A child leaves for a session of its own; then the tool sleeps.
cat >/dev/null
setsid sh -c 'exec sleep 600' </dev/null >/dev/null 2>&1 &
exec sleep 600
