# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of run.sh and helpers.sh
# Models whose texts are Moses' words and subword-nmt's pieces: text in, text out.

# As argostranslate's own steps and CTranslate2 translate the texts (make_argos.py).
test_argos_with_merges()
{
    local data=$source_dir/tests/data/argos-bpe
    expect_quiet_success convert "$data" -o argos.gguf --quiet
    "$ferry" translate -m argos.gguf --quiet --split none --max-length 40 < "$data/texts.en" > found || fail "no translation"
    cut -f 3 "$data/texts.tsv" > expected
    cmp expected found || fail "$(diff expected found)"
    expect_quiet_success inspect argos.gguf
    expect_match "^text: byte pair encoding \(subword-nmt-0.2\), 300 merges, one vocabulary; Moses' words$" \
        '^languages: .*from en by default; into de by default$'
}

# Where both are, argostranslate takes the SentencePiece model.
test_argos_refuses()
{
    cp -r "$source_dir/tests/data/argos-bpe" package
    sed -i '3s/.*/a b c/' package/bpe.model
    expect_failure 'package/bpe.model, line 3: expected two texts with one blank between them' convert package -o x.gguf
    sed -i '1s/.*/#version: 0.3/' package/bpe.model
    expect_failure "package/bpe.model, line 1: expected '#version: 0.1' or '#version: 0.2', found '#version: 0.3'" \
        convert package -o x.gguf
    : > package/bpe.model
    expect_failure 'package/bpe.model: expected 1 to' convert package -o x.gguf
    printf 'no model' > package/sentencepiece.model
    expect_failure 'package/sentencepiece.model' convert package -o x.gguf
    rm package/sentencepiece.model
    sed -i '/to_code/d' package/metadata.json
    expect_failure to_code convert package -o x.gguf
    [ ! -e x.gguf ] || fail "a failed conversion leaves a file"
}
