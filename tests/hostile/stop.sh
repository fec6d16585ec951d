#!/bin/sh
# Prints half an answer and stops itself and all its group.
cat >/dev/null
echo '{"half":'
kill -STOP 0
echo '1}'
