# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables of run.sh and helpers.sh
# Two models on a text.

write_text()
{
    printf '%s\n' 'How are you?' 'Hello, world!' '' 'I know.' 'Good morning!' 'Tom is my friend.' 'See you tomorrow.' > text
}

test_compare()
{
    local other=$source_dir/models/encodings/rope.gguf
    write_text
    expect_quiet_success compare -i text "$shipped" "$other"
    expect_match '^lines that differ +4 of 7 \(57\.1 %\)$' '^  B -0\.20.. Wir sehen uns morgen\.$' \
        '^size in MB +15\.8 +1\.6 +0\.10x$' '^A: .*tatoeba-en-de\.gguf, beam 4$' '^ms a line '
    [ "$(grep '^line ' out | tr -d '\n')" = 'line 2line 4line 5line 7' ] || fail "found $(cat out)"
    "$ferry" translate -i text > a
    "$ferry" translate -m "$other" -i text > b
    "$ferry" translate --scores -i text | cut -f1 > scores
    expect_quiet_success compare --json -i text "$shipped" "$other" --threads 2
    python3 - "$shipped" << 'END' || fail "found $(cat out)"
import json, os, sys
[found] = [json.loads(line) for line in open("out")]
a, b, source = (open(name).read().split("\n")[:-1] for name in ("a", "b", "text"))
assert found["lines"] == 7 and found["different"] == 4
expected = [i for i in range(7) if a[i] != b[i]]
assert [d["line"] - 1 for d in found["differences"]] == expected
for d, i in zip(found["differences"], expected):
    assert (d["texts"], d["source"]) == ([a[i], b[i]], source[i])
one, other = found["models"]
assert one["bytes"] == os.path.getsize(sys.argv[1]) and one["path"] == sys.argv[1]
scores = [float(line) for line in open("scores")]
assert abs(one["score"] - sum(scores) / 7) < 1e-5
for model in one, other:
    for key in "line_ms", "token_ms", "tokens_per_s":
        middle, low, high = model[key]
        assert 0 < low <= middle <= high
assert one["token_ratio"] == [1, 1, 1] and 0 < other["token_ratio"][0] < 1
END
}

# A model is as good as itself; a long list is shortened.
test_compare_with_itself()
{
    write_text
    expect_quiet_success compare -i text "$shipped" "$shipped" --beam 1
    expect_match '^lines that differ +0 of 7' '^score .* \+0\.0000$' '^size in MB .* 1\.00x$' ', beam 1$'
    expect_no_match '^line '
    local i
    for i in $(seq 12); do sed -n 2p text; done > long
    expect_quiet_success compare -i long "$shipped" "$source_dir/models/encodings/rope.gguf"
    [ "$(grep -c '^line ' out)" -eq 10 ] || fail "found $(cat out)"
    expect_match '^and 2 more lines, which --json lists$'
}

test_compare_refuses()
{
    write_text
    : > empty
    expect_failure 'empty: expected lines to translate, found none' compare -i empty "$shipped" "$shipped"
    expect_failure 'nowhere.gguf: cannot open' compare -i text "$shipped" nowhere.gguf
    expect_usage_error 'compare: expected MODEL MODEL, found 1 argument;' compare -i text "$shipped"
}
