# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of run.sh and helpers.sh
# Nothing is silently wrong: sentences that vanish, translations that loop, models that are damaged.

test_split()
{
    local apples i
    apples=$(for ((i = 0; i < 20; i++)); do printf 'I like apples. '; done)
    expect_quiet_success translate "$apples"
    [ "$(grep -o 'Ich mag Äpfel\.' out | wc -l)" -eq 20 ] || fail "of 20 sentences: $(cat out)"
    expect_success translate --split none "$apples"
    [ "$(grep -o 'Ich mag Äpfel\.' out | wc -l)" -lt 20 ] || fail "--split none splits: $(cat out)"
    expect_message 'line 1: the translation has '
    run translate --json --split none "$apples"
    expect_match '"quality": \["short"\]'
    expect_quiet_success translate $'Hello, world!\t How are you?  Good morning!'
    expect_out 'Hallo, die Welt!\t Wie geht es dir?  Guten Morgen!\n'
    expect_quiet_success translate --split all --nbest 2 'Good morning!  How are you?'
    expect_match '^0 \|\|\| Guten Morgen!  Wie geht es dir\? \|\|\| F0= -[0-9.]+ \|\|\| -[0-9.]+$'
    expect_usage_error "--split: expected none|auto|all, found 'some'" translate --split some x
}

# Eight different sentences: a line of them is as their lines.
test_a_line_of_eight_sentences()
{
    printf '%s\n' 'Good morning!' 'How are you?' 'Tom is reading a book in the garden.' 'Hello, world!' \
        'I like apples.' 'Where is the station?' 'She is my sister.' 'It is raining.' > sentences
    expect_quiet_success translate -i sentences
    tr '\n' ' ' < out | sed 's/ $//' > joined
    echo >> joined
    tr '\n' ' ' < sentences > line
    expect_quiet_success translate -i line
    cmp -s joined out || fail "expected $(cat joined), found: $(cat out)"
}

# Linear in its length: 45 kB of a sentence.
test_a_line_of_45_kilobytes()
{
    yes 'How are you? ' | head -3500 | tr -d '\n' > in
    expect_quiet_success translate --beam 1 -i in
    [ "$(grep -o 'Wie geht es dir?' out | wc -l)" -eq 3500 ] || fail "found $(wc -c < out) bytes"
}

test_loops()
{
    local looping='Against all expectations, we became good friends.'
    expect_success translate 'How are you?' "$looping"
    expect_lines out 2
    expect_match chchch
    expect_message 'line 2: the translation repeats itself: the same token 4 times in a row'
    expect_success translate --on-loop retry 'How are you?' "$looping"
    expect_lines out 2
    expect_match '^Wie geht es dir\?$'
    expect_no_match chchch
    expect_message 'line 2: the translation replaces one that repeated itself'
    expect_success translate --quiet "$looping"
    expect_silence
    run translate --json "$looping"
    expect_match '"quality": \["loop"\], "warnings": \["the translation repeats itself: '
    expect_quiet_success translate 'No, no, no, no, no!' # as often as in the source
}

test_numbers()
{
    expect_success translate 'How are you?' 'The room has 20 m².'
    expect_message 'line 2: the translation has 202 where the source has 20'
    run translate --json 'The room has 20 m².'
    expect_match '"quality": \["number"\], "warnings": \["the translation has 202 where the source has 20"\]'
    expect_quiet_success translate '20,000 copies were sold in 1969.' # as "20 000"
}

# damage NAME BYTE TEXT: the model that ships, with 1,000 bytes of TEXT from BYTE on.
damage()
{
    cp "$shipped" "$1"
    chmod u+w "$1"
    yes "$3" | tr -d '\n' | head -c 1000 | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# As 16-bit numbers, UU is 85, and 0xFFFF is none.
test_damaged_weights()
{
    local bytes=9919247
    damage nonsense.gguf $bytes U
    run translate -m nonsense.gguf --beam 1 --max-length 40 'How are you?' 'Good morning!'
    expect_status 1
    expect_lines out 2
    grep -q '^ferry: line 1: the translation ' err || fail "no warning: $(cat err)"
    [ "$(grep -c '^ferry: nonsense.gguf: damaged: its content hash is .*; translations cannot be trusted$' err)" -eq 1 ] ||
        fail "the damage is not told once: $(cat err)"
    damage numbers.gguf $bytes $'\377'
    run translate -m numbers.gguf --beam 1 'How are you?' 'Good morning!'
    expect_status 1
    expect_out '\n\n'
    expect_message 'line 2: the model computed a logit that is not a finite number: its weights are broken or too large, as trained, or its file is damaged (ferry_model_verify)' 3
    expect_message 'numbers.gguf: damaged: its content hash is ' 3
    run inspect numbers.gguf
    expect_status 1
    expect_match '^content: damaged$'
    expect_message 'numbers.gguf: damaged: its content hash is '
    expect_failure 'nonsense.gguf: damaged: its content hash is ' verify nonsense.gguf
    expect_quiet_success inspect "$shipped"
    expect_match '^content: intact$'
}
