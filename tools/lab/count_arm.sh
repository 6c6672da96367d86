#!/bin/bash
# What ARM's kernels execute, counted under QEMU 7, for where no ARM machine is at hand: products, and with FERRY, a program
# for ARM (tests/systems.sh … arm), the greedy translation of TEXT by MODEL. Prints tables for docs/performance-log.md.
#     tools/lab/count_arm.sh BUILD_DIRECTORY [FERRY MODEL TEXT]
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1
shift

mkdir -p "$build"
cc -std=c11 -O2 -shared -fPIC -fvisibility=hidden tests/cross/count_plugin.c -o "$build/count_plugin.so"
cmake -S tests/cross -B "$build/aarch64" -G Ninja -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 \
    -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc > /dev/null
cmake --build "$build/aarch64" --target count_products > /dev/null

# count PROGRAM ARGUMENT…: lines of count_plugin.c
count()
{
    # shellcheck disable=SC2069 # what the program itself prints is not wanted
    qemu-aarch64 -cpu max -plugin "$build/count_plugin.so" "$@" 2>&1 > /dev/null
}

# row NAME MULTIPLICATIONS: a row of the first table from lines of count_plugin.c
row()
{
    awk -v name="$1" -v all="$2" '{ instructions += $2; vector += $3 + $6; loads += $5 }
        END { printf "| %s | %d | %d | %.1f | %d | %.2f |\n", name, instructions / 1000, vector / 1000, all / vector,
                     vector / 2000, loads / vector }'
}

echo "| product | 10³ instructions | 10³ vector | multiplications per vector instruction | 10³ cycles of two pipes | loads per vector instruction |"
echo "| --- | --- | --- | --- | --- | --- |"
for shape in '64 512 512' '5 512 512' '1 512 512'; do
    read -r rows K N <<< "$shape"
    for kind in 'plain float' 'neon float' 'plain int8' 'neon int8' 'neon_dotprod int8' 'neon_i8mm int8'; do
        read -r isa type <<< "$kind"
        count "$build/aarch64/count_products" "$isa" "$type" "$rows" "$K" "$N" |
            grep -E '^(tile|finish|copy|ferry_(product|quantize|largest))' |
            row "$rows × $K × $N, $type, \`$isa\`" $((rows * K * N))
    done
done

[ $# -gt 0 ] || exit 0
ferry=$1 model=$2 text=$3
tokens=$(qemu-aarch64 -cpu max "$ferry" bench translate -m "$model" -i "$text" --beam 1 --json |
    sed 's/.*"target_tokens": \([0-9]*\).*/\1/')

# translate TEXT: what that executes, all in all and in products
translate()
{
    count "$ferry" translate -q -m "$model" --beam 1 --threads 1 -i "$1" |
        awk '{ sum["instructions"] += $2; sum["vector"] += $3 + $6 }
             /^(tile|finish|copy_columns|ferry_(product|quantize|largest)_)/ { sum["products"] += $3 + $6 }
             END { printf "%d %d %d\n", sum["instructions"], sum["vector"], sum["products"] }'
}

echo
echo "$tokens target tokens; without opening the model:"
echo
echo "| kernels | 10³ instructions per target token | 10³ vector | of them in products | 10³ cycles of two pipes |"
echo "| --- | --- | --- | --- | --- |"
for isa in plain neon neon_dotprod neon_i8mm; do
    export FERRY_ISA=$isa
    read -r no_instructions no_vector no_products <<< "$(translate /dev/null)"
    read -r instructions vector products <<< "$(translate "$text")"
    awk -v isa="$isa" -v instructions=$((instructions - no_instructions)) -v vector=$((vector - no_vector)) \
        -v products=$((products - no_products)) -v tokens="$((tokens * 1000))" \
        'BEGIN { printf "| `%s` | %d | %d | %d %% | %d |\n", isa, instructions / tokens, vector / tokens,
                        100 * products / vector, vector / tokens / 2 }'
done
