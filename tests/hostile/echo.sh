#!/bin/sh
# Prints its input.
exec cat
