#!/bin/sh
# Programs and libraries of different releases work together:
#     abi.sh OLD_PROGRAM GROWN_PROGRAM LIBRARY GROWN_LIBRARY MODEL
# The old program was compiled with the first release's header, the grown ones with a header whose ferry_options has one
# more field.
set -eu
old=$1
grown=$2
library=$3
grown_library=$4
model=$5

# run LIBRARY PROGRAM known|unknown
run()
{
    echo "-- $2 with $1"
    LD_LIBRARY_PATH=${1%/*} "$2" "$model" "$3"
}

# The test is empty if a program finds another library, or if the struct has not grown.
for program in "$old" "$grown"; do
    for each in "$library" "$grown_library"; do
        found=$(LD_LIBRARY_PATH=${each%/*} ldd "$program" | sed -n 's/.*libferry[^ ]* => \([^ ]*\).*/\1/p')
        if [ "$(readlink -f "$found")" != "$(readlink -f "$each")" ]; then
            echo "abi: $program found '$found', expected $each" >&2
            exit 1
        fi
    done
done

run "$library" "$old" known
run "$grown_library" "$old" known
run "$library" "$grown" unknown
run "$grown_library" "$grown" known
