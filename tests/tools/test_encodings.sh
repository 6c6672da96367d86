# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables of run.sh and helpers.sh
# bench encodings.

test_bench_encodings()
{
    local key
    expect_quiet_success bench encodings --untrained --max-length 1
    for key in none learned sinusoidal shaw t5 transformer_xl deberta rope alibi kerple fire; do
        [ "$(grep -c "^$key  *- " out)" -eq 1 ] || fail "not one row for $key: $(cat out)"
    done
    expect_match 'encoder, tokens/s'
    expect_success bench encodings --untrained --encodings none,none --max-length 1 --json
    expect_lines out 1
    for key in encoder_s step_s step_ratio table_bytes row_bytes cache_bytes thread_bytes; do
        grep -qF "\"$key\": " out || fail "$key is missing in: $(cat out)"
    done
    grep -qF '"cache_bytes": 24576,' out || fail "cache: expected 6 layers of 2 x 512 float32: $(cat out)"
    python3 -c 'import json, sys; assert len(json.load(open("out"))["encodings"]) == 1' || fail "no JSON: $(cat out)"
}

test_bench_encodings_refuses()
{
    expect_usage_error "add --untrained" bench encodings
    expect_usage_error "bench encodings: does not take all of the given options" bench encodings --untrained --beam 2
    expect_usage_error "bench translate: does not take all of the given options" bench translate --untrained
    expect_failure "positional encoding 'juggling' is not supported by this build" \
        bench encodings --untrained --encodings none,juggling
    [ ! -s out ] || fail "output: $(cat out)"
}
