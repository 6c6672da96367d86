# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables of run.sh and helpers.sh
# convert, inspect, verify, bench.

test_convert_names_its_output()
{
    cp -r "$positions/sinusoidal-post" 'my model'
    run convert 'my model/'
    expect_status 0
    expect_silence
    grep -qE '^my model.gguf: [0-9.]+ MB$' out || fail "found: $(cat out)"
    [ -s 'my model.gguf' ] || fail "my model.gguf is missing"
    cp 'my model.gguf' before
    run convert 'my model'
    expect_status 1
    expect_message 'my model.gguf: exists; choose a name with --output'
    run convert 'my model' --type f16 -o 'my model.gguf' --quiet
    expect_status 0
    expect_silence
    expect_out ''
    [ "$(stat -c %s 'my model.gguf')" -lt "$(stat -c %s before)" ] || fail "f16 is not smaller than f32"
}

test_convert_refuses()
{
    run convert nowhere
    expect_status 1
    expect_message 'nowhere: '
    run convert nowhere -o x.gguf
    expect_status 1
    expect_message 'nowhere'
    mkdir empty
    run convert empty -o x.gguf
    expect_status 1
    expect_message 'empty'
    run convert empty -o empty
    expect_status 1
    expect_message 'empty: is the source, too'
    [ -z "$(ls x.gguf* 2>/dev/null)" ] || fail "a failed conversion leaves a file: $(ls)"
}

test_inspect()
{
    local word
    run inspect "$shipped"
    expect_status 0
    expect_silence
    for word in 'd_model 256' 'vocabulary 8001' 'sinusoidal' 'beam 4' '3 layers' 'memory' 'origin'; do
        grep -qi -- "$word" out || fail "'$word' is missing in: $(cat out)"
    done
    run inspect nowhere.gguf
    expect_status 1
    expect_message 'nowhere.gguf: cannot open'
}

test_verify()
{
    local name=sinusoidal-post golden
    golden=$positions/$name/golden.safetensors
    "$ferry" convert --quiet "$positions/$name" -o model.gguf || fail "convert"
    run verify model.gguf "$golden"
    expect_status 0
    expect_silence
    grep -q '^passed' out || fail "$(cat out)"
    grep -qE '^greedy ids +equal +equal$' out || fail "$(cat out)"
    run verify model.gguf "$golden" --tolerance 1e-9
    expect_status 1
    grep -q '^FAILED' out || fail "$(cat out)"
}

# The same sizes, other numbers.
test_verify_sees_a_difference()
{
    "$ferry" convert --quiet "$positions/sinusoidal-post" -o model.gguf || fail "convert"
    run verify model.gguf "$positions/sinusoidal_split-post/golden.safetensors"
    expect_status 1
    grep -q '^FAILED' out || fail "$(cat out)"
    grep -q ': different$' out || fail "the tokens that differ are not named: $(cat out)"
}

# One recorded greedy id changed, everything else equal.
test_verify_sees_a_greedy_token()
{
    "$ferry" convert --quiet "$positions/sinusoidal-post" -o model.gguf || fail "convert"
    cp "$positions/sinusoidal-post/golden.safetensors" changed.safetensors
    chmod u+w changed.safetensors
    local header offset old
    header=$(od -An -tu4 -N4 changed.safetensors)
    offset=$(grep -aoE '"greedy_ids":\{[^}]*\[[0-9]+,[0-9]+\]\}' changed.safetensors | grep -oE '[0-9]+,[0-9]+\]\}$')
    offset=$((8 + header + ${offset%%,*}))
    old=$(od -An -tu1 -j "$offset" -N1 changed.safetensors)
    # shellcheck disable=SC2059
    printf "\\x$(printf %02x $(((old + 1) % 64)))" | dd of=changed.safetensors bs=1 seek="$offset" conv=notrunc status=none
    run verify model.gguf changed.safetensors
    expect_status 1
    grep -q "^sentence 0, token 0: expected $(((old + 1) % 64)), found $((old)); .*: different$" out || fail "$(cat out)"
    grep -qE '^greedy ids +different +different$' out || fail "$(cat out)"
    # Within a large tolerance it is a near-tie.
    run verify model.gguf changed.safetensors --tolerance 1000
    expect_status 0
    grep -q ': a near-tie$' out || fail "$(cat out)"
}

test_verify_refuses()
{
    "$ferry" convert --quiet "$positions/sinusoidal-post" -o model.gguf || fail "convert"
    local golden=$positions/sinusoidal-post/golden.safetensors
    run verify model.gguf nowhere.safetensors
    expect_status 1
    expect_message 'nowhere.safetensors: cannot open'
    run verify model.gguf "$positions/sinusoidal-post/model.safetensors"
    expect_status 1
    expect_message "tensor 'source_ids' is missing"
    run verify "$shipped" "$golden"
    expect_status 1
    expect_message "tensor 'encoder_output': expected f32 [3, "
    head -c 20000 "$golden" > cut.safetensors
    run verify model.gguf cut.safetensors
    expect_status 1
    expect_message 'cut.safetensors: '
    sed 's/greedy_ids/greasy_ids/' "$golden" > renamed.safetensors
    run verify model.gguf renamed.safetensors
    expect_status 1
    expect_message "tensor 'greedy_ids' is missing"
}

# Keys of one line of JSON, in order.
json_keys()
{
    expect_lines out 1
    grep -qE '^\{("[a-z0-9_]+": [0-9]+(\.[0-9]+)?(, |\}$))+' out || fail "no JSON: $(cat out)"
    grep -oE '"[a-z0-9_]+"' out | tr -d '"\n' | sed 's/$/\n/'
}

json_value()
{
    sed -E "s/.*\"$1\": ([0-9.]+).*/\1/" out
}

test_bench()
{
    printf 'How are you?\nHello, world!\n\nHow are you?\n' > letter
    "$ferry" translate --beam 2 -i letter -o expected_text
    run bench translate -m "$shipped" -i letter -o brief --beam 2 --threads 1 --batch 2 --json
    expect_status 0
    expect_silence
    [ "$(json_keys)" = load_sfirst_stranslate_slinestarget_tokenspeak_rss_mb ] || fail "keys: $(cat out)"
    cmp brief expected_text || fail "another text than translate's"
    [ "$(json_value lines)" -eq 4 ] || fail "lines: $(cat out)"
    local tokens word
    tokens=$(json_value target_tokens)
    run bench translate -m "$shipped" -i letter -o brief --beam 2 --single --json
    expect_status 0
    [ "$(json_keys)" = load_sfirst_stranslate_slinestarget_tokenspeak_rss_mbmean_msp50_msp95_ms ] ||
        fail "keys: $(cat out)"
    cmp brief expected_text || fail "another text than translate's"
    [ "$(json_value target_tokens)" -eq "$tokens" ] || fail "tokens: expected $tokens, found $(cat out)"
    [ "$tokens" -ge 12 ] || fail "tokens: found $tokens"
    run bench translate < letter
    expect_status 0
    for word in 'target tokens/s' '^kernels'; do
        grep -q "$word" out || fail "'$word' is missing in: $(cat out)"
    done
}

# A table; in JSON the same phases, whose shares are all of it.
test_bench_profile()
{
    printf 'How are you?\nHello, world!\n\n' > letter
    "$ferry" translate --beam 2 -i letter -o expected_text
    run bench translate -i letter -o brief --beam 2 --threads 1 --profile
    expect_status 0
    expect_silence
    cmp brief expected_text || fail "another text than translate's"
    grep -qE '^phase +ms +share +calls$' out || fail "no table: $(cat out)"
    grep -qE '^tokenizing +[0-9]+\.[0-9]+ +[0-9.]+ % +3$' out || fail "three lines were tokenized: $(cat out)"
    grep -qE '^threads at work +[0-9.]+ +[0-9.]+ % of 1 x ' out || fail "no sum: $(cat out)"
    run bench translate -i letter --beam 2 --threads 2 --profile --json
    expect_status 0
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
    ! grep -qE '^(phase|threads at work)' out || fail "a profile that nobody asked for"
    expect_usage_error 'bench encodings: does not take all of the given options' bench encodings --untrained --profile
}

# A table; in JSON what was done is as much each time, and speeds and shares follow from it.
test_bench_limits()
{
    printf 'How are you?\nHello, world!\n\n' > letter
    "$ferry" translate --beam 2 -i letter -o expected_text
    run bench translate -i letter -o brief --beam 2 --threads 1 --limits
    expect_status 0
    expect_silence
    cmp brief expected_text || fail "another text than translate's"
    grep -qE '^work +10\^9 +10\^9/s +share of the limits, 1 x one thread' out || fail "no table: $(cat out)"
    grep -qE '^float32 products +[0-9.]+ +[0-9.]+ +[0-9.]+ % of ' out || fail "no products: $(cat out)"
    grep -qE '^bytes of weights +[0-9.]+ +[0-9.]+ +[0-9.]+ % of reading ' out || fail "no reading: $(cat out)"
    ! grep -qE '^(int8|phase)' out || fail "what nobody asked for, or nobody did: $(cat out)"
    run bench translate -i letter --beam 2 --threads 2 --limits --json
    expect_status 0
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
    ! grep -q '^work' out || fail "limits that nobody asked for"
    expect_usage_error 'bench encodings: does not take all of the given options' bench encodings --untrained --limits
}

test_bench_refuses()
{
    run bench translate -i /dev/null
    expect_status 1
    expect_message '/dev/null: expected lines to translate, found none'
    "$ferry" convert --quiet "$positions/none-post" -o ids.gguf || fail "convert"
    echo Hello > letter
    run bench translate -m ids.gguf -i letter --json
    expect_status 1
    expect_message 'the model has no tokenizer'
    [ ! -s out ] || fail "figures of lines that failed: $(cat out)"
}
