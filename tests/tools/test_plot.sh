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

# Curves and cells have the values that the formula of the encoding gives.
test_plot_formulas()
{
    local name
    for name in sinusoidal shaw t5 rope alibi; do
        plot "$name"
        python3 "$source_dir/tests/tools/plot_formulas.py" "$name" picture.svg || fail "$name: not its formula"
    done
}

# What applies is drawn, for the stacks that differ.
test_plot_parts()
{
    plot sinusoidal
    expect_fact '^text Encoder and decoder: a row for each position is added to the embedding$'
    expect_fact '^text layout interleaved, exponent_divisor half, first 0$'
    expect_fact '^text A fixed formula'
    expect_facts '^text .*score' 0
    plot learned
    expect_fact '^text Encoder: a row for each position'
    expect_fact '^text Decoder: a row for each position'
    expect_fact '^text Untrained: the weights are random'
    plot alibi
    expect_fact '^text Encoder and decoder: a number for each distance is added to the score$'
    expect_fact '^text The decoder has the left half only'
    expect_fact '^text head 7$'
    plot rope
    expect_fact '^text Encoder and decoder: queries and keys are rotated by their positions$'
    expect_fact '^text theta 10000, layout half, dims 32$'
    plot transformer_xl
    expect_fact '^text Encoder: a number for each distance is added to the score$'
    expect_fact '^text Decoder: the score gets the product of the query and a vector for each distance$'
    expect_facts '^text .*product of the key' 0
    plot deberta
    expect_fact '^text Encoder: the score gets the product of the query and a vector for each distance$'
    expect_fact '^text Decoder: the score gets the product of the key and a vector for each distance$'
    expect_facts '^text .*a number for each distance' 0
    plot shaw
    expect_fact '^text every head$'
    expect_fact '^text Encoder: values get a vector for each distance, too$'
}

test_plot_nothing()
{
    plot none
    expect_fact '^text Encoder: nothing is added$'
    expect_fact '^text The decoder’s causal mask is the only information about order'
    expect_facts '^cell' 0
}

# One encoding and its parameters are those of the model; both stacks; tables that end; a layer.
test_plot_model()
{
    convert_sample mixed-post mixed.gguf
    plot -m mixed.gguf
    expect_fact '^text rope in the encoder, alibi in the decoder$'
    expect_fact '^text Encoder: theta 10000, layout half, dims 16$'
    expect_fact '^text Decoder: slopes formula$'
    expect_fact '^text Model mixed-post$'
    mv picture.svg option.svg
    plot mixed.gguf
    cmp -s picture.svg option.svg || fail "an operand and -m differ"
    convert_sample learned-post learned.gguf
    plot learned.gguf
    expect_facts '^text The rows' 2
    convert_sample shaw-post shaw.gguf
    plot shaw.gguf --layer 0
    expect_fact '^text Model shaw-post, layer 0 of 0 … 1$'
    mv facts first
    plot shaw.gguf
    expect_fact '^text Model shaw-post, layer 1 of 0 … 1$'
    ! cmp -s <(grep ^cell first) <(grep ^cell facts) || fail "the layers do not differ"
    expect_failure 'ferry: --layer: expected 0 to ' plot shaw.gguf --layer 99 -o picture.svg
}

# Dashed lines end what training has seen: distances up to 19 to both sides.
test_plot_training()
{
    cp -r "$positions/alibi-post" trained
    sed -i '0,/{/s//{"trained_length": 20,/' trained/config.json
    "$ferry" convert --quiet trained -o trained.gguf || fail "cannot convert"
    plot trained.gguf
    expect_fact '^text Dashed lines: the longest training example, 20 tokens$'
    [ "$(grep -c 'class="mark"' picture.svg)" -eq 8 ] || fail "expected two dashed lines for each of 4 heads"
    plot trained.gguf rope
    expect_fact '^text Dashed lines: the longest training example.$'
    convert_sample alibi-post other.gguf
    plot other.gguf
    expect_facts '^text Dashed lines' 0
}

# All encodings, or several models, each of which names what it is.
test_plot_overview()
{
    local name
    plot --untrained
    for name in none learned sinusoidal shaw t5 transformer_xl deberta rope alibi kerple fire; do
        expect_facts "^text $name\$" 1
    done
    expect_fact '^text adds nothing$'
    expect_fact '^text rotates queries and keys$'
    expect_fact '^text theta 10000, layout half, dims 32$'
    convert_sample mixed-post mixed.gguf
    plot mixed.gguf t5 "$shipped"
    expect_fact '^text rope (encoder)$'
    expect_fact '^text alibi (decoder)$'
    expect_facts '^text mixed-post$' 2
    expect_fact '^text t5$'
    expect_fact '^text tatoeba-en-de$'
}

# The sentence, its translation, the model, a scale; the mean and every head, or one head.
test_plot_attention()
{
    plot --attention 'I like tea & <cake>.' -m "$shipped"
    expect_fact '^text Cross-attention, layer 2 of 0 … 2$'
    expect_fact '^text Model tatoeba-en-de. Rows: what is being produced; columns: the source'
    expect_fact '^text I like tea & <cake>.$'
    expect_fact "^text $("$ferry" translate -m "$shipped" 'I like tea & <cake>.')\$"
    expect_fact '^text mean of the heads$'
    expect_facts '^text head [0-7]$' 8
    expect_facts '^cell [0-8] 0 0 ' 9
    expect_fact '^text 0.5$'
    expect_fact '^text </s>$'
    plot --attention 'I like tea.' --kind encoder --layer 1 --head 2
    expect_fact '^text Encoder self-attention, layer 1 of 0 … 2$'
    expect_fact '^text head 2$'
    expect_facts '^text mean of the heads$' 0
    expect_facts '^cell [1-9]' 0
    # Inputs of the decoder do not attend to later ones; the first only attends to itself.
    plot --attention 'I like tea.' --kind decoder
    expect_fact '^text Decoder self-attention'
    expect_facts '^cell [0-8] 0 0 s40$' 9
    awk '/^cell/ && $3 > $4 && $5 != "s0" { exit 1 }' facts || fail "an input attends to a later one"
    expect_failure 'ferry: --head: expected 0 to ' plot --attention 'I like tea.' --head 99 -o picture.svg
    convert_sample none-post ids.gguf
    expect_failure 'the model has no tokenizer' plot --attention 'I like tea.' -m ids.gguf -o picture.svg
}

# Text from right to left begins at the right; what XML does not permit is replaced.
test_plot_text()
{
    plot --attention $'שלום, < עולם' --head 0
    expect_fact '^text שלום, < עולם$'
    grep -q '<text [^>]*direction="rtl"[^>]*>שלום, &lt; עולם</text>' picture.svg || fail "not from right to left"
    plot --attention $'a\x01b \xff c' --head 0
    expect_fact $'^text a\xef\xbf\xbdb \xef\xbf\xbd c$'
}

test_plot_refuses()
{
    expect_failure '--attention: the model knows nothing of the text' plot --attention '♪' -o picture.svg
    [ ! -e picture.svg ] || fail "a picture of nothing was written"
    expect_usage_error 'plot: expected --output FILE' plot sinusoidal
    expect_usage_error 'plot: expected ENCODING, MODEL, --untrained or --attention TEXT' plot -o picture.svg
    expect_usage_error 'plot: expected ENCODING, MODEL,' plot alibi --attention x -o picture.svg
    expect_usage_error 'plot: expected ENCODING, MODEL,' plot alibi --untrained -o picture.svg
    expect_usage_error 'plot: --head: expected --attention with it' plot alibi --head 1 -o picture.svg
    expect_usage_error '--kind: expected cross|encoder|decoder' plot --attention x --kind self -o picture.svg
    expect_usage_error '-o: expected a name that ends in .svg' plot alibi -o picture.png
    [ ! -e picture.png ] || fail "a picture of another form was written"
    echo kept > picture.svg
    expect_failure 'alibbi: neither a positional encoding of this build nor a file' plot alibbi -o picture.svg
    expect_failure 'alibbi: neither a positional encoding of this build nor a file' plot rope alibbi -o picture.svg
    cp "$shipped" model.svg
    expect_failure '-o ./model.svg: expected a file of its own, found one that is read as MODEL' plot model.svg -o ./model.svg
    expect_failure '-o ./model.svg: expected a file of its own, found one that is read as MODEL' plot rope model.svg -o ./model.svg
    expect_failure '-o ./model.svg: expected a file of its own, found one that is read as -m' plot --attention x -m model.svg -o ./model.svg
    expect_failure 'nowhere/picture.svg: cannot create: No such file or directory' plot alibi -o nowhere/picture.svg
    [ "$(cat picture.svg)" = kept ] || fail "a failure replaced a file"
    expect_success help plot
    expect_match '^usage: ferry plot'
}
