#!/bin/sh
# Translates the lines of standard input, in order, with as many processes as the machine has cores:
#     parallel_lines.sh ferry translate --quiet --threads 1 -m MODEL < INPUT > OUTPUT
# GNU parallel cuts blocks of 1 MB, and reads more options from the environment: PARALLEL='--sshloginfile MACHINES --block 10M'.
# A block that fails three times is missing in the output, and the exit status is not 0.
exec parallel --pipe --keep-order --retries 3 --quote "$@"
