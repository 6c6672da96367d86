# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables of run.sh and helpers.sh
# What is printed of a line beside its text, and what a line may be beside text.

# check_json CODE: Python that finds the objects of the file `out` in `lines`, one a line, and texts of `plain`.
check_json()
{
    python3 - << END || fail "found: $(head -c 2000 out)"
import json, math
with open("out", encoding="utf-8", errors="strict", newline="\n") as file:
    raw = file.read()
assert raw == "" or raw.endswith("\n")
lines = [json.loads(line) for line in raw.split("\n")[:-1]]
$1
END
}

test_json()
{
    printf 'How are you?\n\nI \377 know.\r\nSay "x\\\\y"\t\033[31m \342\200\256now' > in
    expect_success translate --quiet --scores --max-length 20 -i in
    mv out plain
    expect_success translate --quiet --json --max-length 20 -i in
    expect_silence
    check_json '
texts = [line.rstrip("\r").split("\t", 1) for line in open("plain", newline="\n").read().split("\n")[:-1]]
assert [o["line"] for o in lines] == [1, 2, 3, 4]
assert [o["text"] for o in lines] == [t[1] for t in texts]
for o, text in zip(lines, texts): assert abs(o["score"] - float(text[0])) < 1e-5 * max(1, abs(o["score"]))
assert [o["source"] for o in lines] == ["How are you?", "", "I \ufffd know.", "Say \"x\\\\y\"\t\x1b[31m \u202enow"]
assert sorted(lines[0]) == ["line", "score", "source", "text", "tokens"]
assert sorted(lines[1]) == ["line", "score", "source", "text"]
assert lines[2]["warnings"] == ["invalid UTF-8 was read as U+FFFD"]
pieces = "".join(t["piece"] for t in lines[0]["tokens"][:-1]).replace("\u2581", " ").strip()
assert pieces == lines[0]["text"]
total = sum(t["log_probability"] for t in lines[0]["tokens"])
assert abs(total / len(lines[0]["tokens"]) - lines[0]["score"]) < 1e-6
assert not any(ord(c) < 32 or c in "\x7f\u202e" for c in raw.replace("\n", ""))'
}

# A line that fails, a translation in parts, and one that is cut short.
test_json_of_failures_and_warnings()
{
    local long
    long=$(printf 'word %.0s' $(seq 40))
    expect_success_with "$long\n" translate --json --max-source 20 --max-length 5
    check_json '
parts, ended, *more = lines[0]["warnings"]
assert parts.startswith("split into ") and "ended at max_length 5" in ended and "cut" in lines[0]["quality"]'
    run_with "How are you?\n\nHow are you?\n" translate --json --prefix "$long" --max-length 10
    expect_status 1
    check_json '
assert sorted(lines[0]) == ["error", "line", "source"] and "the prefix has" in lines[0]["error"]
assert lines[1]["text"] == "" and lines[2]["line"] == 3 and "error" in lines[2]'
}

test_json_nbest()
{
    expect_success translate --nbest 3 --alignment hard 'How are you?' ''
    mv out plain
    expect_success translate --nbest 3 --alignment hard --json 'How are you?' ''
    check_json '
rows = [line.split(" ||| ") for line in open("plain").read().split("\n")[:-1]]
best = lines[0]["hypotheses"]
assert [h["text"] for h in best] == [r[1] for r in rows[:3]] and len(rows) == 4
assert [" ".join("%d-%d" % tuple(p) for p in h["alignment"]) for h in best] == [r[2] for r in rows[:3]]
for h, r in zip(best, rows):
    assert abs(h["score"] - float(r[4])) < 1e-5
    for t in h["tokens"]: assert t["piece"].strip("\u2581") in (h["text"].encode()[t["begin"]:t["end"]].decode(), "</s>")
assert lines[1]["hypotheses"] == [{"text": "", "score": 0}] and "text" not in lines[0]
source = lines[0]["source"].encode()
assert [source[t["begin"]:t["end"]] for t in lines[0]["source_tokens"]] == [b"How", b"are", b"you", b"?", b""]'
}

# Each target token has weights that add up to 1; the pair of hard alignment is the largest one.
test_alignment_forms()
{
    local form
    for form in hard soft; do
        expect_success translate --split all --alignment "$form" 'I know.' '' 'I know. How are you?'
        mv out "$form"
        expect_success translate --json --alignment "$form" 'I know.'
        mv out "$form.json"
    done
    cp hard.json out
    check_json '
hard, soft = open("hard").read().split("\n"), open("soft").read().split("\n")
assert hard[1] == soft[1] == " ||| "
for line, text in (2, "Ich weiß es. Wie geht es dir?"), (0, "Ich weiß es."): # of two sentences, and of one
    rows = [[float(w) for w in row.split(",")] for row in soft[line].split(" ||| ")[1].split(" ")]
    for row in rows: assert abs(sum(row) - 1) < 1e-4
    pairs = sorted((row.index(max(row)), t) for t, row in enumerate(rows))
    assert hard[line] == text + " ||| " + " ".join("%d-%d" % p for p in pairs)
assert lines[0]["alignment"] == [list(p) for p in pairs]
found = json.loads(open("soft.json").read())["alignment"]
assert all(abs(a - b) < 1e-5 for x, y in zip(found, rows) for a, b in zip(x, y)) and len(found) == len(rows)'
}

# Marian's own lines: text and hard alignment byte by byte, soft weights and scores to the last digits.
test_alignment_of_marian()
{
    local model
    for model in $(golden_folders models/tatoeba-en-de/marian); do check_alignment_of_marian "$model"; done
}

check_alignment_of_marian()
{
    local model=$1 name options
    "$ferry" convert --quiet "$model" -o marian.gguf || fail 'cannot convert'
    python3 -c "import json; print(*(l['text'] for l in json.load(open('$model/golden.json'))['lines'][:20]), sep='\n')" > in
    while read -r name options; do
        # shellcheck disable=SC2086 # options are words
        expect_success translate --quiet --split none -m marian.gguf -i in $options
        check_json_of_marian "$model" "$name"
    done << 'END'
greedy --beam 1 --nbest 1 --alignment soft
beam6 --beam 6 --nbest 6 --alignment hard
beam4_half --beam 4 --nbest 4 --word-penalty 0.2 --length-penalty 0.6 --alignment hard
END
}

check_json_of_marian()
{
    python3 - "$1/golden.json" "$2" << 'END' || fail "$2: found: $(head -c 500 out)"
import json, sys
golden = json.load(open(sys.argv[1]))["lines"][:20]
expected = [row.split(" ||| ") for line in golden if line["text"] for row in line[sys.argv[2]]]
expected = [row for row in expected if row[1] != ""]
numbers = {line["text"]: str(i) for i, line in enumerate(golden)}
names = [numbers[line["text"]] for line in golden if line["text"] for row in line[sys.argv[2]] if row.split(" ||| ")[1] != ""]
found = [row.split(" ||| ") for row in open("out").read().split("\n")[:-1]]
found = [row for row in found if row[1] != ""]
assert len(found) == len(expected) > 15, (len(found), len(expected))
def near(a, b, bound): return abs(float(a) - float(b)) <= bound * max(1, abs(float(b)))
for name, row, (_, pieces, alignment, words, total, score) in zip(names, found, expected):
    assert row[:2] == [name, pieces.replace(" ", "").replace("\u2581", " ").strip()], (row[:2], pieces)
    if "," in alignment:
        for a, b in zip(row[2].split(" "), alignment.split(" "), strict=True):
            assert all(near(x, y, 1e-5) for x, y in zip(a.split(","), b.split(","), strict=True))
    else:
        assert row[2] == alignment, (row, alignment)
    assert row[3].startswith("F0= ") and near(row[3][4:], total[4:], 1e-4) and near(row[4], score, 1e-4)
END
}

test_prefix()
{
    expect_success_with 'How are you?\n\nHello, world!\n' translate --prefix 'Guten Tag'
    [ "$(grep -c '^Guten Tag' out)" -eq 2 ] || fail "found $(cat out)"
    expect_lines out 3
    printf 'Wie geht es Ihnen\n\nEine\n' > prefixes
    expect_success_with 'How are you?\nHow are you?\nHello, world!\n' translate --prefixes prefixes --batch 2
    [ "$(head -2 out)" = $'Wie geht es Ihnen?\nWie geht es dir?' ] || fail "found $(cat out)"
    [[ $(sed -n 3p out) == Eine* ]] || fail "found $(cat out)"
    run_with 'Hello!\n' translate --prefixes prefixes
    expect_status 1
    expect_message 'prefixes: expected a line for each line of input, which has 1, found more'
    expect_lines out 1
    run_with 'a\nb\nc\nd\n' translate --prefixes prefixes
    expect_status 1
    expect_message 'prefixes: expected a line for each line of input, found only 3'
    expect_failure 'nowhere: cannot open' translate --prefixes nowhere x
    cp prefixes before
    expect_failure 'prefixes: ' translate --prefixes prefixes -o prefixes x
    cmp -s prefixes before || fail 'the prefixes were overwritten'
}

test_sample()
{
    local text='I thought you might want to play a game of chess.'
    expect_success translate --sample --seed 7 --nbest 4 "$text"
    mv out first
    expect_success translate --sample --seed 7 --nbest 4 --threads 2 "$text"
    cmp -s out first || fail 'the same seed draws something else'
    expect_success translate --sample --seed 8 --nbest 4 "$text"
    ! cmp -s out first || fail 'another seed draws the same'
    expect_lines out 4
    expect_success translate --beam 1 "$text"
    mv out greedy
    # All that remains is the likeliest token.
    local options
    for options in '--top-k 1' '--temperature 0.001' '--top-p 0.001'; do
        # shellcheck disable=SC2086 # an option and its value
        expect_success translate --sample $options "$text"
        cmp -s out greedy || fail "$options: found $(cat out)"
    done
    expect_success translate --alternatives --nbest 3 "$text"
    [ "$(cut -d' ' -f3 out | sort -u | wc -l)" -eq 3 ] || fail "alternatives begin alike: $(cat out)"
    [ "$(head -1 out | sed 's/^0 ||| \(.*\) ||| F0.*/\1/')" = "$(cat greedy)" ] || fail "found $(cat out)"
    expect_usage_error '--sample: expected --beam 1 with it, found 2' translate --sample --beam 2 x
    expect_usage_error '--temperature: expected --sample with it' translate --temperature 2 x
    expect_usage_error '--seed: expected a whole number from 0 to' translate --sample --seed -1 x
}

# The ids of a text are those of its tokens; they give the tokens of its translation.
test_ids()
{
    expect_success translate --json --alignment hard 'How are you?' 'I know.'
    python3 -c '
import json
for line in open("out"):
    o = json.loads(line)
    print(*(t["id"] for t in o["source_tokens"]), file=open("source", "a"))
    print(*(t["id"] for t in o["tokens"]), file=open("target", "a"))' || fail "$(cat out)"
    expect_quiet_success translate --ids -i source
    cmp -s out target || fail "expected $(cat target), found $(cat out)"
    expect_success_with '\n' translate --ids
    expect_out '\n'
    { echo; sed 1q source; printf ' \t \n%s\r\n12 x 0\n8001 0\n' "$(sed 's/ /\t  /' source | sed 1q)"; echo 7 -1; } > in
    run translate --ids -i in
    expect_status 1
    expect_message "line 5: expected ids from 0 to 8000, found 'x'" 3
    expect_message "line 6: expected ids from 0 to 8000, found '8001'" 3
    expect_message "line 7: expected ids from 0 to 8000, found '-1'" 3
    expect_out "\n$(sed 1q target)\n\n$(sed 1q target)\r\n\n\n\n"
    expect_success translate --ids --nbest 2 --alignment hard -i source
    [ "$(sed -n 1p out | sed 's/^0 ||| \([0-9 ]*\) ||| 0-0 .* ||| F0= -.*/\1/')" = "$(sed 1q target)" ] || fail "$(cat out)"
    expect_usage_error 'expected --ids or --json, found both' translate --ids --json 1
    expect_usage_error 'expected --ids or --prefix, found both' translate --ids --prefix x 1
}

# The ids hold the tags; only the first token of a translation follows --to.
test_ids_of_many_languages()
{
    local model=$source_dir/tests/data/models/huggingface-small/nllb
    "$ferry" convert --quiet "$model" -o nllb.gguf || fail 'cannot convert'
    expect_success_with '5 2 3\n' translate -q -m nllb.gguf --ids --from en --to de
    mv out expected-ids
    expect_success_with '5 2 3\n' translate -q -m nllb.gguf --ids --to de
    cmp -s out expected-ids || fail "expected $(cat expected-ids), found $(cat out)"
    run_with '5 2 3\n' translate -m nllb.gguf --ids
    expect_message '--to: the model needs the language to translate into'
    run_with 'Hello.\n' translate -m nllb.gguf --to de
    expect_message '--from: the model needs the language to translate from'
}

# Without positions equal tokens have equal weights: the first of them counts.
test_equal_weights()
{
    "$ferry" convert --quiet "$positions/none-post" -o none.gguf || fail 'cannot convert'
    expect_success_with '7 7 7\n' translate --ids --alignment hard -m none.gguf
    expect_match ' \|\|\| 0-0( 0-[0-9]+)*$'
}

test_ids_beyond_the_positions()
{
    convert_sample learned-post learned.gguf
    run_with "$(yes 5 | head -64 | tr '\n' ' ')\n$(yes 5 | head -65 | tr '\n' ' ')\n" translate -q --ids -m learned.gguf
    expect_status 1
    expect_message "line 2: expected at most 64 ids, as the model's positions permit, found 65"
    [ -n "$(sed -n 1p out)" ] && [ -z "$(sed -n 2p out)" ] || fail "found: $(cat out)"
}

# The score of a translation is what its search said.
test_score()
{
    printf 'How are you?\n\nI thought you might want to play a game of chess.\n' > source
    expect_success translate --json --length-penalty 0 -i source
    mv out translated
    python3 -c '
import json
for line in open("translated"): print(json.loads(line)["text"], file=open("target", "a"))'
    printf 'How are you?\nThe end.\n' >> source
    printf 'Wie \377?\n\n' >> target
    expect_success score --json --length-penalty 0 source target
    expect_message 'line 4: invalid UTF-8 in the target'
    check_json '
translated = [json.loads(line) for line in open("translated")]
assert len(lines) == 5
for a, b in ((0, 0), (2, 2)):
    assert abs(lines[a]["score"] - translated[b]["score"]) < 1e-4
    assert [t["id"] for t in lines[a]["tokens"]] == [t["id"] for t in translated[b]["tokens"]]
    for x, y in zip(lines[a]["tokens"], translated[b]["tokens"]): assert abs(x["log_probability"] - y["log_probability"]) < 1e-4
for o in lines: assert abs(o["score"] - sum(t["log_probability"] for t in o["tokens"])) < 1e-3
assert lines[3]["text"] == "Wie \ufffd?"
open("scores", "w").write("".join("%.6g\n" % o["score"] for o in lines))'
    expect_success score --quiet source target
    cmp -s out scores || fail "expected $(cat scores), found $(cat out)"
    expect_silence
    "$ferry" score --quiet source - < target > out || fail 'no standard input'
    cmp -s out scores || fail "standard input: found $(cat out)"
    "$ferry" score --quiet - target < source > out || fail 'no standard input'
    cmp -s out scores || fail "standard input: found $(cat out)"
    run score --length-penalty 1 source target
    [ "$(head -1 out)" = "$("$ferry" translate --scores 'How are you?' | cut -f1)" ] || fail "found $(cat out)"
}

# The penalties that a model has are no part of it.
test_score_without_penalties()
{
    local penalty
    cp -r "$source_dir/tests/data/models/tatoeba-en-de/marian" model
    chmod -R u+w model
    echo 'I know.' > source
    echo 'Ich weiß es.' > target
    for penalty in 0 0.5; do
        sed -i "s/^word-penalty: .*/word-penalty: $penalty/" model/decoder.yml
        expect_quiet_success convert --quiet model -o "$penalty.gguf"
        expect_quiet_success score -m "$penalty.gguf" source target
        mv out "scores-$penalty"
    done
    cmp scores-0 scores-0.5 || fail "with a penalty in the model: $(cat scores-0.5)"
    expect_quiet_success score -m 0.gguf --word-penalty 0.5 source target
    ! cmp -s out scores-0 || fail 'the option changes nothing'
}

test_score_refuses()
{
    printf 'one\ntwo\nthree\n' > three
    printf 'one\ntwo\n' > two
    run score three two
    expect_status 1
    expect_message 'two: expected 3 lines, as three has, found 2'
    expect_lines out 2
    run score two three
    expect_message 'three: expected 2 lines, as two has, found 3'
    printf 'word %.0s' $(seq 3000) > long
    expect_failure 'line 1: source: expected 1 to 512 tokens, found' score long long
    expect_out '-inf\n'
    run score --json long long
    check_json 'assert "source: expected 1 to 512 tokens" in lines[0]["error"] and "score" not in lines[0]'
    expect_failure 'nowhere: cannot open' score two nowhere
    expect_usage_error 'score: expected SOURCE TARGET, found 1 argument;' score two
}
