#!/bin/sh
# Waits for children that print, spin and sleep for ever.
cat >/dev/null
(while :; do echo tick; sleep 0.2; done) &
sh -c 'while :; do :; done' &
sleep 600 &
wait
