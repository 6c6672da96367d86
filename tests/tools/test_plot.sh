# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables of run.sh and helpers.sh
# Pictures: they are valid SVG, and show what their titles say.

# plot ARGUMENT…: draws picture.svg, and lists its contents in the file `facts`.
plot()
{
    expect_quiet_success plot "$@" -o picture.svg
    python3 "$source_dir/tests/tools/svg_facts.py" picture.svg > facts || fail "not a picture: $*"
}

expect_fact()
{
    grep -q -- "$1" facts || fail "'$1' is missing in: $(grep -v ^cell facts | cut -c1-100)"
}

expect_facts()
{
    [ "$(grep -c -- "$1" facts)" -eq "$2" ] || fail "'$1': expected $2, found $(grep -c -- "$1" facts)"
}

# The first two cells are sine and cosine of position 0: the middle and the end of the scale.
test_plot_map()
{
    plot sinusoidal
    expect_fact '^text Position by dimension, encoder and decoder$'
    expect_fact '^text Similarity of positions by distance, encoder and decoder$'
    expect_fact '^text position$'
    expect_fact '^text dimension'
    expect_fact '^text distance |i - j| (positions)$'
    expect_facts '^cell' 4096
    expect_fact '^cell 0 0 #fafafa$'
    expect_fact '^cell 1 0 #a50f28$'
    expect_facts '^line' 1
    expect_facts '^text Score' 0
    plot learned
    expect_facts '^text Position by dimension' 2
    expect_facts '^cell' 8192
}

# The bias of ALiBi is two straight lines for each head, highest at distance 0: neighboring points have the same
# difference.
test_plot_bias()
{
    plot alibi
    expect_fact '^text Score bias by distance and head, encoder and decoder (left half)$'
    expect_fact '^text head 7$'
    expect_facts '^line' 8
    expect_facts '^cell' 0
    expect_facts '^text Similarity' 0
    grep -m 1 '^line' facts | tr ' ,' '\n ' | awk 'NF == 2 { y[n++] = $2 } END {
        if (n != 255 || y[127] >= y[0] || y[127] >= y[254]) exit 1
        for (i = 0; i < 127; i++) if ((y[i] - y[i + 1] - (y[0] - y[127]) / 127) ^ 2 > 0.03) exit 1
    }' || fail "not the lines of head 0: $(grep -m 1 '^line' facts)"
    plot t5
    expect_facts '^text Score bias' 2
    expect_facts '^line' 16
}

# A rotation is the same for all heads, most similar at distance 0, and symmetric.
test_plot_similarity()
{
    local name
    plot rope
    expect_fact '^text Similarity of scores by distance, encoder and decoder (left half)$'
    expect_fact '^text every head$'
    expect_facts '^line' 1
    grep '^line' facts | tr ' ,' '\n ' | awk 'NF == 2 { y[n++] = $2 } END {
        for (i = 0; i < 127; i++) if (y[i] <= y[127] || (y[i] - y[254 - i]) ^ 2 > 0.03) exit 1
        exit n != 255
    }' || fail "not a rotation's line: $(grep '^line' facts)"
    for name in shaw transformer_xl deberta; do
        plot "$name"
        expect_fact '^text Similarity of scores by distance, encoder$'
        expect_fact '^text Similarity of scores by distance, decoder$'
    done
}

# Both stacks of a model; tables that end; a layer; a file name that has to be escaped in XML.
test_plot_model()
{
    local name=$'r<&\xff\x01.gguf'
    convert_sample mixed-post "$name"
    plot "$name"
    expect_fact $'^text r<&\xef\xbf\xbd\xef\xbf\xbd.gguf$'
    expect_fact ', encoder'
    expect_fact ', decoder'
    plot "$name" --layer 0
    expect_failure 'layer: expected 0 to ' plot "$name" --layer 99 -o picture.svg
    convert_sample learned-post learned.gguf
    plot learned.gguf
    expect_facts '^text Position by dimension' 2
}

test_plot_attention()
{
    plot --attention 'I like tea & cake.'
    expect_fact '^text Cross-attention, layer [0-9]*, mean of the heads$'
    expect_fact '^text rows: what is being produced; columns: the source$'
    expect_fact '^text &$'
    expect_fact '^text </s>$'
    plot --attention 'I like tea.' --kind encoder --layer 1 --head 2
    expect_fact '^text Encoder self-attention, layer 1, head 2$'
    # Inputs of the decoder do not attend to later ones; the first only attends to itself.
    plot --attention 'I like tea.' --kind decoder -m "$shipped"
    expect_fact '^text Decoder self-attention'
    expect_fact '^cell 0 0 #08306b$'
    awk '/^cell/ && $2 > $3 && $4 != "#ffffff" { exit 1 }' facts || fail "an input attends to a later one"
    expect_failure 'head: expected 0 to ' plot --attention 'I like tea.' --head 99 -o picture.svg
    convert_sample none-post ids.gguf
    expect_failure 'the model has no tokenizer' plot --attention 'I like tea.' -m ids.gguf -o picture.svg
}

test_plot_refuses()
{
    expect_usage_error 'plot: expected --output FILE' plot sinusoidal
    expect_usage_error 'plot: expected ENCODING, MODEL or --attention TEXT' plot -o picture.svg
    expect_usage_error 'plot: expected ENCODING, MODEL or --attention TEXT' plot alibi --attention x -o picture.svg
    expect_usage_error '--model, --from, --to, --head and --kind require --attention' plot alibi --head 1 -o picture.svg
    expect_usage_error '--kind: expected cross|encoder|decoder' plot --attention x --kind self -o picture.svg
    echo kept > picture.svg
    expect_failure 'alibbi: neither a positional encoding of this build nor a file' plot alibbi -o picture.svg
    expect_failure 'positions have no effect that could be drawn' plot none -o picture.svg
    cp "$shipped" model.gguf
    expect_failure './model.gguf: is the model, too' plot model.gguf -o ./model.gguf
    expect_failure 'nowhere/picture.svg: cannot open: No such file or directory' plot alibi -o nowhere/picture.svg
    [ "$(cat picture.svg)" = kept ] || fail "a failure replaced a file"
    expect_success help plot
    expect_match '^usage: ferry plot'
}
