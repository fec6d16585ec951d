#!/usr/bin/perl
# Catches SIGTERM and executes itself anew, so that it never ends by it.
$SIG{TERM} = sub { exec $0, @ARGV };
# The signal is blocked while its handler runs, and after the exec: it has to be let in again.
use POSIX qw(:signal_h);
sigprocmask(SIG_UNBLOCK, POSIX::SigSet->new(SIGTERM));
sleep 600 while 1;
