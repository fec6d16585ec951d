#!/bin/sh
# DANGEROUS: forks without end. Only under a limit of processes.
cat >/dev/null
bomb() { bomb | bomb & }
bomb 2>/dev/null
exec sleep 600
