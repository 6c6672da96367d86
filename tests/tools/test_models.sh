# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables of run.sh and helpers.sh
# convert, inspect, verify, bench.

test_convert_names_its_output()
{
    cp -r "$positions/sinusoidal-post" 'my model'
    expect_quiet_success convert 'my model/'
    expect_match '^my model.gguf: [0-9.]+ MB, from [0-9.]+ MB in [0-9.]+ s$'
    [ -s 'my model.gguf' ] || fail "my model.gguf is missing"
    cp 'my model.gguf' before
    expect_failure 'my model.gguf: exists; choose a name with --output' convert 'my model'
    expect_quiet_success convert 'my model' --type f16 -o 'my model.gguf' --quiet
    expect_out ''
    [ "$(stat -c %s 'my model.gguf')" -lt "$(stat -c %s before)" ] || fail "f16 is not smaller than f32"
}

test_convert_refuses()
{
    expect_failure 'nowhere: ' convert nowhere
    expect_failure 'nowhere' convert nowhere -o x.gguf
    mkdir empty
    expect_failure 'empty' convert empty -o x.gguf
    expect_failure 'empty' convert empty -o empty
    [ -z "$(ls x.gguf* 2>/dev/null)" ] || fail "a failed conversion leaves a file: $(ls)"
}

test_inspect()
{
    local word
    expect_quiet_success inspect "$shipped"
    for word in 'd_model 256' 'vocabulary 8001' 'sinusoidal' 'beam 4' '3 layers' 'memory' 'origin'; do
        grep -qi -- "$word" out || fail "'$word' is missing in: $(cat out)"
    done
    expect_failure 'nowhere.gguf: cannot open' inspect nowhere.gguf
}

test_verify()
{
    local name=sinusoidal-post golden
    golden=$positions/$name/golden.safetensors
    convert_sample "$name" model.gguf
    expect_quiet_success verify model.gguf "$golden"
    expect_match '^passed' '^greedy ids +equal +equal$'
    run verify model.gguf "$golden" --tolerance 1e-9
    expect_status 1
    expect_match '^FAILED'
}

# Recorded activations that no engine recorded: ids, lengths and shapes that point outside of what is there.
test_verify_crafted()
{
    local corpus=$source_dir/tests/data/corpus name text
    while read -r name text; do
        expect_failure "$text" verify "$corpus/fuzz_model/gated_languages_i8.gguf" "$corpus/fuzz_golden/$name"
    done << 'ROWS'
decoder_ids_out_of_range target_ids: id 7 is not below the vocabulary's 7
greedy_ids_out_of_range tensor 'greedy_ids': expected ids below 7, found 7
negative_length tensor 'source_lengths': expected 1 to 3, found -2147483648
no_rows tensor 'source_ids': expected i32 [?, ?], found i32 [0, 3]
other_rows tensor 'greedy_ids': expected i32 [2, ?], found i32 [1, 2]
rows_beyond_32_bits tensor 'source_ids': shape [4294967298, 3] of i32 does not fit its 24 bytes
source_ids_out_of_range ids: id 2147483647 is not below the vocabulary's 7
ROWS
    run verify "$corpus/fuzz_model/gated_languages_i8.gguf" "$corpus/fuzz_golden/not_numbers"
    expect_status 1
    expect_match '^FAILED: 2 sentences'
}

test_verify_content()
{
    convert_sample sinusoidal-post model.gguf
    expect_quiet_success verify model.gguf
    expect_match '^model.gguf: intact: [0-9]+ bytes, content hash [0-9a-f]{32}$'
    expect_quiet_success inspect model.gguf
    expect_match '^content hash: [0-9a-f]{32}$'
    expect_usage_error '--tolerance: is for comparing' verify model.gguf --tolerance 1
    # Among the last weights.
    printf '\1' | dd of=model.gguf bs=1 seek=$(($(wc -c < model.gguf) - 64)) conv=notrunc status=none
    expect_failure 'model.gguf: damaged: its content hash is ' inspect model.gguf
    expect_failure 'model.gguf: damaged: its content hash is ' verify model.gguf
    local shipped
    for shipped in "$source_dir"/models/{pretrained,encodings}/*.gguf; do expect_quiet_success verify "$shipped"; done
}

# The recorded activations are those of another model of the same sizes.
test_verify_sees_a_difference()
{
    convert_sample sinusoidal-post model.gguf
    run verify model.gguf "$positions/sinusoidal_split-post/golden.safetensors"
    expect_status 1
    expect_match '^FAILED' ': different$'
}

# One recorded greedy id changed, everything else equal.
test_verify_sees_a_greedy_token()
{
    convert_sample sinusoidal-post model.gguf
    cp "$positions/sinusoidal-post/golden.safetensors" changed.safetensors
    chmod u+w changed.safetensors
    local header offset old
    header=$(od -An -tu4 -N4 changed.safetensors)
    offset=$(grep -aoE '"greedy_ids":\{[^}]*\[[0-9]+,[0-9]+\]\}' changed.safetensors | grep -oE '[0-9]+,[0-9]+\]\}$')
    offset=$((8 + header + ${offset%%,*}))
    old=$(od -An -tu1 -j "$offset" -N1 changed.safetensors)
    # shellcheck disable=SC2059
    printf "\\x$(printf %02x $(((old + 1) % 64)))" |
        dd of=changed.safetensors bs=1 seek="$offset" conv=notrunc status=none
    run verify model.gguf changed.safetensors
    expect_status 1
    expect_match "^sentence 0, token 0: expected $(((old + 1) % 64)), found $((old)); .*: different$" \
        '^greedy ids +different +different$'
    # A near-tie: up to twice the tolerance.
    local gap
    gap=$(sed -n 's/.* logits are \(.*\) apart: .*/\1/p' out | head -1)
    expect_success verify model.gguf changed.safetensors --tolerance "$(awk "BEGIN { print $gap / 1.7 }")"
    expect_match ': a near-tie$'
    run verify model.gguf changed.safetensors --tolerance "$(awk "BEGIN { print $gap / 2.3 }")"
    expect_status 1
    expect_match ': different$'
}

test_verify_refuses()
{
    convert_sample sinusoidal-post model.gguf
    local golden=$positions/sinusoidal-post/golden.safetensors
    expect_failure 'nowhere.safetensors: cannot open' verify model.gguf nowhere.safetensors
    expect_failure "tensor 'source_ids' is missing" verify model.gguf "$positions/sinusoidal-post/model.safetensors"
    expect_failure "tensor 'encoder_output': expected f32 [3, " verify "$shipped" "$golden"
    head -c 20000 "$golden" > cut.safetensors
    expect_failure 'cut.safetensors: ' verify model.gguf cut.safetensors
    sed 's/greedy_ids/greasy_ids/' "$golden" > renamed.safetensors
    expect_failure "tensor 'greedy_ids' is missing" verify model.gguf renamed.safetensors
}

# The keys of one line of JSON, in order.
json_keys()
{
    expect_lines out 1
    expect_match '^\{("[a-z0-9_]+": [0-9]+(\.[0-9]+)?(, |\}$))+'
    grep -oE '"[a-z0-9_]+"' out | tr -d '"\n' | sed 's/$/\n/'
}

json_value()
{
    sed -E "s/.*\"$1\": ([0-9.]+).*/\1/" out
}

# bench_letter OPTION…: a bench of the file `letter` translates it as `ferry translate` does.
bench_letter()
{
    "$ferry" translate --beam 2 -i letter -o expected_text
    expect_quiet_success bench translate -i letter -o brief --beam 2 "$@"
    cmp brief expected_text || fail "the translations differ from those of ferry translate"
}

test_bench()
{
    printf 'How are you?\nHello, world!\n\nHow are you?\n' > letter
    bench_letter -m "$shipped" --threads 1 --batch 2 --json
    [ "$(json_keys)" = load_sfirst_stranslate_slinestarget_tokenspeak_rss_mbpeak_own_mb ] || fail "keys: $(cat out)"
    [ "$(json_value lines)" -eq 4 ] || fail "lines: $(cat out)"
    local tokens
    tokens=$(json_value target_tokens)
    bench_letter -m "$shipped" --single --json
    [ "$(json_keys)" = load_sfirst_stranslate_slinestarget_tokenspeak_rss_mbpeak_own_mbmean_msp50_msp95_ms ] ||
        fail "keys: $(cat out)"
    [ "$(json_value target_tokens)" -eq "$tokens" ] || fail "tokens: expected $tokens, found $(cat out)"
    [ "$tokens" -ge 12 ] || fail "tokens: found $tokens"
    expect_success bench translate < letter
    expect_match 'target tokens/s' '^kernels'
    expect_success bench translate --threads 1024 < letter
    expect_match "threads $(nproc), batch"
}

# A table; and JSON with the same phases, whose shares add up to 100 %.
test_bench_profile()
{
    printf 'How are you?\nHello, world!\n\n' > letter
    bench_letter --threads 1 --profile
    expect_match '^phase +ms +share +calls$' '^tokenizing +[0-9]+\.[0-9]+ +[0-9.]+ % +3$'
    expect_match '^threads at work +[0-9.]+ +[0-9.]+ % of 1 x '
    expect_success bench translate -i letter --beam 2 --threads 2 --profile --json
    expect_lines out 1
    python3 - << 'END' || fail "found: $(cat out)"
import json
profile = json.load(open("out"))["profile"]
for name in "encoder", "self_attention", "cross_attention", "feed_forward", "output_layer", "search", "detokenizing":
    assert profile[name]["ms"] > 0 and profile[name]["calls"] > 0, name
assert profile["tokenizing"]["calls"] == 3 and profile["detokenizing"]["calls"] == 2
assert abs(sum(phase["share"] for phase in profile.values()) - 100) < 0.1
END
    run bench translate -i letter
    expect_no_match '^(phase|threads at work)'
    expect_usage_error 'bench cancel: does not take --profile' bench cancel --profile
}

# A table; and JSON, in which the work is the same in every run, and speeds and shares agree with it.
test_bench_limits()
{
    printf 'How are you?\nHello, world!\n\n' > letter
    bench_letter --threads 1 --limits
    expect_match '^work +10\^9 +10\^9/s +share of the limits, 1 x one thread'
    expect_match '^float32 products +[0-9.]+ +[0-9.]+ +[0-9.]+ % of '
    expect_match '^bytes of weights +[0-9.]+ +[0-9.]+ +[0-9.]+ % of reading '
    expect_no_match '^(int8|phase)'
    expect_success bench translate -i letter --beam 2 --threads 2 --limits --json
    expect_lines out 1
    mv out first
    run bench translate -i letter --beam 2 --threads 2 --limits --json
    python3 - << 'END' || fail "found: $(cat first out)"
import json
def near(a, b): return abs(a - b) <= 1e-2 * b
first, again = (json.load(open(name)) for name in ("first", "out"))
limits, seconds = again["limits"], again["translate_s"]
floats, weights = limits["float32"], limits["weights"]
assert limits["int8"]["multiply_adds"] == 0
assert 0 < floats["multiply_adds"] == first["limits"]["float32"]["multiply_adds"]
assert near(floats["per_s"] * seconds, floats["multiply_adds"])
for peak in floats["peaks"].values():
    assert peak["per_s"] > 0 and near(peak["share"] / 100 * peak["per_s"], floats["per_s"])
assert weights["steps"] > 0 and near(weights["bytes_per_s"] * seconds, weights["bytes"])
reading = weights["reading"]
assert reading["bytes_per_s"] > 0 and near(reading["share"] / 100 * reading["bytes_per_s"], weights["bytes_per_s"])
END
    run bench translate -i letter
    expect_no_match '^work'
    expect_usage_error 'bench service: does not take --limits' bench service --limits
}

test_bench_refuses()
{
    expect_failure '/dev/null: expected lines to translate, found none' bench translate -i /dev/null
    convert_sample none-post ids.gguf
    echo Hello > letter
    expect_failure 'the model has no tokenizer' bench translate -m ids.gguf -i letter --json
    [ ! -s out ] || fail "figures of lines that failed: $(cat out)"
}
