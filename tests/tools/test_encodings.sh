# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables of run.sh and helpers.sh
# bench encodings: the cost of encodings, and trained models on a text.

# What is measured is said before it is measured, and each part when it is; the parts take seconds each.
test_bench_encodings_begins_at_once()
{
    "$ferry" bench encodings --untrained > out 2> err &
    local process=$!
    while [ ! -s out ] && kill -0 $process; do sleep 0.02; done
    kill $process
    wait $process
    expect_match '^cost of encodings: random weights'
    expect_lines out 2
}

test_bench_encodings_untrained()
{
    local name key
    expect_quiet_success bench encodings --untrained --max-length 1
    for name in none learned sinusoidal shaw t5 transformer_xl deberta rope alibi kerple fire; do
        [ "$(grep -c "^$name  *[0-9.]*  *[01]\.[0-9][0-9][0-9]" out)" -eq 1 ] || fail "not one time for $name: $(cat out)"
        [ "$(grep -c "^$name  *[0-9.]*  *[0-9.]*  *24\.6  *-$" out)" -eq 1 ] || fail "not one memory of $name: $(cat out)"
    done
    expect_match '^decoder, step 1 '
    expect_no_match '^encoder, [0-9]* tokens|^decoder, step 64'
    expect_success bench encodings --untrained --encodings none,none --max-length 1 --json
    expect_lines out 1
    python3 - << 'END' || fail "JSON: $(cat out)"
import json
(cost,) = json.load(open("out"))["cost"]["encodings"]
value, low, high = cost["step_s"]["1"]
assert 0 < low <= value <= high and cost["step_ratio"]["1"] == [1, 1, 1]
assert cost["encoder_s"] == {"32": [None] * 3, "512": [None] * 3, "2000": [None] * 3}
assert cost["cache_bytes"] == 6 * 2 * 512 * 4 and cost["thread_bytes"] is None and cost["table_bytes"] == 0
END
}

test_bench_encodings_refuses()
{
    expect_usage_error 'bench encodings: expected MODEL or --untrained, found both' bench encodings --untrained x
    expect_usage_error '--encodings and --max-length are for --untrained' bench encodings --encodings none
    expect_usage_error '--encodings and --max-length are for --untrained' bench encodings --max-length 1
    expect_usage_error 'a text needs both --input and --reference' bench encodings -i text
    expect_usage_error 'a text needs both --input and --reference' bench encodings --reference text
    expect_usage_error 'bench: expected --json or --csv, found both' bench encodings --json --csv
    expect_usage_error "bench encodings: does not take --single" bench encodings --single
    expect_usage_error "bench translate: does not take --untrained" bench translate --untrained
    expect_usage_error "bench translate: unexpected 'more'" bench translate more
    expect_usage_error "--encodings: expected none|learned|" \
        bench encodings --untrained --encodings none,juggling
    [ ! -s out ] || fail "output: $(cat out)"
}

# ---- trained models ----

# A text of 6 lines, one of them blank, the others of 4 words or more (BLEU counts 4-grams), and as its reference what
# the shipped model makes of it by greedy search.
make_text()
{
    printf 'Good morning, my friend.\nThe weather is "fine" today, isn%st it?\n\nI have 1,000.5 reasons.\r\nHe is my best friend.\n' "'" > text
    echo "I thought you might want to play a game of chess with me this evening." >> text
    "$ferry" translate --beam 1 -i text -o reference || fail "cannot translate"
}

# A reference that the model itself wrote: everything is as in the reference, and its likelihood is what the search saw.
test_bench_models()
{
    make_text
    expect_quiet_success bench encodings "$shipped" -i text --reference reference
    expect_match '^text, reference: 6 lines; beam 1;' '^tatoeba-en-de  *100\.0±0\.0  *100\.0±0\.0 ' '^lines  *6  *[1-5]  *[1-5]'
    expect_success bench encodings "$shipped" -i text --reference reference --json --threads 2
    expect_lines out 1
    "$ferry" translate --beam 1 --nbest 1 -i text > scores || fail "cannot translate"
    python3 - << 'END' || fail "JSON: $(cat out)"
import json, re
found = json.load(open("out"))
assert "cost" not in found and found["beam"] == 1 and found["threads"] == 2 and found["text"]["lines"] == 6
assert [b["lines"] for b in found["text"]["buckets"]][2:] == [0] * 6 and found["text"]["trained_pieces"] is None
assert found["models"][0]["training"] == "" and found["models"][0]["trained_pieces"] is None
(model,) = found["models"]
assert model["encoder_encoding"] == model["decoder_encoding"] == "sinusoidal" and model["failures"] == []
assert model["name"] == "tatoeba-en-de" and model["cache_bytes"] == 3 * 2 * 256 * 4 and model["row_bytes"] == 2 * 256 * 4
cells = model["cells"]
assert [c["name"] for c in cells] == ["all", "1-8", "9-16"] and sum(c["lines"] for c in cells[1:]) == 5
for cell in cells:
    for key, value in {"bleu": 100, "chrf": 100, "length_ratio": 1, "early_stop": 0, "repetition": 0}.items():
        assert all(abs(v - value) < 1e-9 for v in cell[key]), (key, cell)
    assert 0 < cell["nats"][1] <= cell["nats"][0] <= cell["nats"][2] < 1.5
    assert 0 < cell["end_nats"][0] < 1
    pieces = sum(p["pieces"] for p in cell["curve"])
    mean = sum(p["pieces"] * p["nats"][0] for p in cell["curve"]) / pieces
    assert abs(mean - cell["nats"][0]) < 1e-6 and [p["position"] for p in cell["curve"]][:2] == [0, 4]
pieces = sum(p["pieces"] for p in cells[0]["curve"])
searched = sum(float(s) for s in re.findall("F0= (\\S+)", open("scores").read()))
assert abs(pieces * cells[0]["nats"][0] + 5 * cells[0]["end_nats"][0] + searched) < 0.01, searched
for key in ("line_ms", "token_ms", "tokens_per_s"):
    value, low, high = model[key]
    assert 0 < low <= value <= high, key
assert model["token_ratio"] == [1, 1, 1]
END
}

# The same model twice: no difference is one, and names stay apart. Hostile names stay names.
test_bench_pairs()
{
    local odd='a"b,\c'
    make_text
    mkdir x y
    ln -s "$shipped" "x/$odd.gguf"
    ln -s "$shipped" "y/$odd.gguf"
    ln -s "$shipped" "$odd 2.gguf"
    sed 's/[aeiou]//' reference > other
    expect_quiet_success bench encodings "x/$odd.gguf" "y/$odd.gguf" "$odd 2.gguf" -i text --reference other --json
    cp out json
    expect_quiet_success bench encodings "x/$odd.gguf" "y/$odd.gguf" "$odd 2.gguf" -i text --reference other --csv
    python3 - << 'END' || fail "JSON or CSV: $(cat json out)"
import csv, json
found = json.load(open("json"))
names = ['x/a"b,\\c.gguf', 'y/a"b,\\c.gguf', 'a"b,\\c 2']
assert [m["name"] for m in found["models"]] == names
for i, model in enumerate(found["models"]):
    for cell in model["cells"]:
        assert 0 <= cell["bleu"][0] < 100 and [d["to"] for d in cell["differences"]] == names[:i]
        for d in cell["differences"]:
            assert d["bleu"] == {"difference": [0, 0, 0], "p": 1} and d["nats"]["p"] == 1
rows = list(csv.DictReader(open("out", newline="")))
assert [r["model"] for r in rows] == [n for n in names for _ in range(3)] and None not in rows[0]
assert [r["bucket"] for r in rows[:3]] == ["all", "1-8", "9-16"] and rows[0]["bleu_p"] == "" and rows[3]["bleu_p"] == "1"
for row in rows:
    (cell,) = [c for c in found["models"][0]["cells"] if c["name"] == row["bucket"]]
    for key in ("bleu", "chrf", "nats", "end_nats", "length_ratio", "early_stop", "repetition"):
        assert [float(row[key + e]) for e in ("", "_low", "_high")] == cell[key], key
END
}

# A model of no words and a table of 40 positions: tests/data/positions/NAME with a tokenizer.
convert_with_text()
{
    cp -r "$positions/$1" "$2"
    cp "$source_dir/tests/data/models/marian-separate/source.spm" "$2"
    echo '{"</s>": 0, "<unk>": 1, "▁He": 2, "o": 3, "▁w": 4, "d": 5, "<pad>": 60}' > "$2/vocab.json"
    sed -i '1,/"format"/s/"format"/"training": "not <b> at all", "trained_length": 31, &/' "$2/config.json"
    "$ferry" convert --quiet "$2" -o "$2.gguf" || fail "cannot convert $1"
}

# A line that is too long for a model's table is reported, and counted for the others.
test_bench_too_long()
{
    chmod -R u+w .
    convert_with_text none-pre any
    convert_with_text learned-pre table
    printf 'Hello.\n%s\n' "$(printf 'word %.0s' {1..60})" > text
    expect_quiet_success bench encodings any.gguf table.gguf -i text --reference text
    expect_match '^The models were trained on examples of up to 31 pieces\.$' '^  1 lines not translated, the first is 2: a sentence of [0-9]* tokens: the model.s positions end at 40$' \
        '^  1 lines too long for a likelihood$' '^table .*!'
    expect_success bench encodings any.gguf table.gguf -i text --reference text --json
    python3 - << 'END' || fail "JSON: $(cat out)"
import json
found = json.load(open("out"))
free, table = found["models"]
assert found["text"]["trained_pieces"] == free["trained_pieces"] == 31 and table["training"] == "not <b> at all"
assert free["failures"] == [] and [f["line"] for f in table["failures"]] == [2]
assert "positions end at 40" in table["failures"][0]["reason"]
assert free["cells"][0]["failed"] == 0 and table["cells"][0]["failed"] == table["cells"][0]["unscored"] == 1
(difference,) = table["cells"][0]["differences"]
assert difference["nats"]["p"] is None and difference["bleu"]["p"] is not None
assert table["cells"][1]["failed"] == 0 and table["cells"][1]["differences"][0]["nats"]["p"] is not None
assert None not in free["token_ms"] + table["token_ms"] + table["tokens_per_s"]
assert table["cells"][2]["nats"] == [None] * 3 and free["cells"][2]["nats"][0] > 0
END
}

# The zoo is found from the program's own place.
test_bench_zoo()
{
    make_text
    mkdir bin
    cp "$ferry" bin/ferry
    ferry=$PWD/bin/ferry
    run bench encodings
    expect_status 1
    expect_message 'no models or no text to compare: name models, and a text with --input and --reference' 5
    mkdir -p models/encodings
    expect_failure '/models/encodings: holds no models' bench encodings
    for name in mixed rope none; do ln -s "$shipped" "models/encodings/$name.gguf"; done
    expect_failure '/models/encodings/test.en: cannot open' bench encodings
    cp text models/encodings/test.en
    cp reference models/encodings/test.de
    expect_quiet_success bench encodings --csv
    [ "$(cut -d, -f1 out | uniq | tr '\n' ' ')" = 'model none rope mixed ' ] || fail "order: $(cat out)"
    expect_quiet_success bench encodings models/encodings/rope.gguf --csv
    expect_lines out 4
}

# Every encoding has a model there, trained as its card says, which translates a short sentence.
test_shipped_zoo()
{
    local zoo=$source_dir/models/encodings name
    for name in none learned sinusoidal shaw t5 transformer_xl deberta rope alibi kerple fire rope-none; do
        run inspect "$zoo/$name.gguf"
        grep -q 'trained on examples of up to 31 tokens' out || fail "$name: $(cat out err)"
        grep -q '^training: 6.0 million target tokens' out || fail "$name: $(cat out err)"
        run translate -m "$zoo/$name.gguf" "Tom is a teacher."
        expect_out 'Tom ist Lehrer.\n'
    done
    [ "$(find "$zoo" -name '*.gguf' | wc -l)" -eq 12 ] || fail "models without a test: $(ls "$zoo")"
}

# Without OpenBLAS everything but the probes is measured.
test_bench_without_openblas()
{
    make_text
    echo 'not a library' > libopenblas.so.0
    LD_LIBRARY_PATH=$PWD run bench encodings "$source_dir/models/encodings/rope.gguf" -i text --reference reference --json
    expect_status 0
    expect_message 'no probes: expected OpenBLAS with LAPACK (libopenblas.so.0), found none' 1
    if grep -q r2_seen out; then fail "probes: $(cat out)"; fi
    run bench encodings "$source_dir/models/encodings/rope.gguf" -i text --reference reference --json
    grep -q r2_seen out || fail "no probes: $(cat out err)"
}

test_bench_models_refuses()
{
    make_text
    head -4 reference > short
    expect_failure 'short: expected 6 lines, as text has, found 4' bench encodings "$shipped" -i text --reference short
    expect_failure '/dev/null: expected lines of text, found none' \
        bench encodings "$shipped" -i /dev/null --reference /dev/null
    expect_failure 'missing: cannot open' bench encodings "$shipped" -i text --reference missing
    expect_failure 'absent.gguf' bench encodings "$shipped" absent.gguf -i text --reference reference
    convert_sample none-post ids.gguf
    expect_failure 'ids.gguf: the model has no tokenizer' \
        bench encodings "$shipped" ids.gguf -i text --reference reference --json
    [ ! -s out ] || fail "output: $(cat out)"
}

# ---- the report ----

# Models that say how long their training's texts were, one of them with a name that is none of HTML's business.
test_bench_report()
{
    local name odd='<script>alert("&amp;")<\i>'
    chmod -R u+w .
    for name in none learned rope; do
        convert_with_text "$name-pre" "$name"
    done
    mv none.gguf "$odd.gguf"
    for words in {1..12}; do printf 'word %.0s' $(seq "$words"); echo; done > text
    expect_quiet_success bench encodings "$odd.gguf" learned.gguf rope.gguf -i text --reference text --json \
        --report report.html
    python3 "$source_dir/tests/tools/check_report.py" report.html out || fail "the page is wrong"
    python3 - << 'END' || fail "probes: $(cat out)"
import json
for model in json.load(open("out"))["models"]:
    probes = model["probes"]
    assert len(probes["encoder"]) == 4 and len(probes["decoder"]) == 3 and len(probes["shuffled"]) == 8
    assert all(0 <= layer["r2_seen"] <= 1 for layer in probes["encoder"] if model["name"] == "learned"), probes
    assert [len(bucket) for bucket in probes["attention"]["cross"]] == [2] * 8
    assert probes["shuffled"][1]["sentences"] > 0 and probes["shuffled"][1]["nats"] > 0
END
    grep -qF 'not &lt;b&gt; at all; up to 31 pieces' report.html || fail "no training in the page"
    expect_quiet_success bench encodings learned.gguf -i text --reference text
    expect_match '^R² of the position .*seen  beyond' '^learned  *encoder 0 '
    expect_quiet_success bench encodings learned.gguf -i text --reference text --json --report one.html
    python3 "$source_dir/tests/tools/check_report.py" one.html out || fail "the page of one model is wrong"
    expect_failure 'no/report.html: cannot' bench encodings rope.gguf -i text --reference text --report no/report.html
    [ ! -s out ] || fail 'the report was opened only after measuring'
}
