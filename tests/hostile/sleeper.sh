#!/bin/sh
# Sleeps in three processes, one of them in a session of its own, and one stopped.
cat >/dev/null
sleep 600 &
setsid sleep 600 &
sh -c 'kill -STOP $$; sleep 600' &
exec sleep 600
