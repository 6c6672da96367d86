#!/bin/sh
# Writes the bindings of ferry.h to stdout, with bindgen 0.60.1 (Debian 12's): bindgen.sh > src/sys.rs
set -eu
cd "$(dirname "$0")"
bindgen --allowlist-function 'ferry_.*' --allowlist-type 'ferry_.*' --allowlist-var 'FERRY_.*' \
    --blocklist-type '__.*|size_t' --size_t-is-usize --no-layout-tests --rust-target 1.47 \
    --newtype-enum 'ferry_(status|policy|early_stopping|split|on_loop|on_number)' --bitfield-enum 'ferry_(open_flag|language_role|quality)' \
    ../../engine/ferry.h
