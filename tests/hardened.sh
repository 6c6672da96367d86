#!/bin/bash
# What CMakeLists.txt hardens an optimized build with, in its files: hardened.sh BUILD (Linux, glibc)
set -euo pipefail
build=$1

fail()
{
    echo "hardened: $*" >&2
    exit 1
}

for file in ferry libferry.so libferry-documents.so python/ferry/_ferry.so; do
    headers=$(readelf -hlW "$build/$file")
    dynamic=$(readelf -dW "$build/$file")
    grep -q '^ *Type: *DYN' <<< "$headers" || fail "$file: its place is fixed (no PIE)"
    grep -q '^ *GNU_RELRO ' <<< "$headers" || fail "$file: tables of addresses stay writable (no RELRO)"
    grep -q '(FLAGS).* BIND_NOW' <<< "$dynamic" || fail "$file: binds lazily (no BIND_NOW)"
    grep -q '^ *GNU_STACK .* RW ' <<< "$headers" || fail "$file: the stack can be executed"
    ! grep -q '^ *LOAD .* RWE ' <<< "$headers" || fail "$file: memory is writable and can be executed"
done
readelf -dW "$build/ferry" | grep '(FLAGS_1).* PIE' > /dev/null || fail "ferry: its place is fixed (no PIE)"

# The rest in the objects: what is linked has a part of it from the system's libraries, too, and the note only if all parts have it,
# of which the C library's own do not everywhere.
case $(uname -m) in
x86_64) note='x86 feature: IBT, SHSTK' ;;
aarch64) note='AArch64 feature: BTI, PAC' ;;
*) note='File: ' ;;
esac
for archive in libferry.a libferry-documents.a libferry_inspect.a; do
    # Of each object but that with the system's utf8proc.
    readelf -nsW "$build/$archive" | awk -v note="$note" '
        /^File: / { name = $2; ours = name !~ /\(unicode_private\.o\)$/; if (ours) { count++; noted[name] += 0 } }
        ours && index($0, note) { noted[name] = 1 }
        ours && $7 == "UND" && $8 == "__stack_chk_fail" { stack = 1 }
        ours && $7 == "UND" && $8 ~ /^__[a-z]*_chk$/ { fortified = 1 }
        END {
            if (!count) print "no objects"
            if (!stack) print "no stack protector"
            if (!fortified) print "no FORTIFY"
            for (name in noted) if (!noted[name]) { print "no CET or branch protection in " name; break }
        }' | while read -r fault; do fail "$archive: $fault"; done
done

# Each page of a large frame is touched before the next one.
if [ "$(uname -m)" = x86_64 ]; then
    objdump -d "$build/libferry.so" | grep -E 'or[lq] +[$]0x0,[(]%rsp[)]' > /dev/null ||
        fail "libferry.so: no protection against stacks that clash"
fi
