# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables of run.sh and helpers.sh
# `ferry verify --record`: what is recorded is what other systems compute, and what `verify` compares with.

separate=$source_dir/tests/data/models/marian-separate

test_recording_of_lines()
{
    python3 -c 'import json, sys; print("\n".join(l["text"] for l in json.load(open(sys.argv[1]))["lines"][:6]))' \
        "$separate/golden.json" > texts
    expect_success convert --quiet "$separate" -o model.gguf
    expect_quiet_success verify model.gguf --record recorded.safetensors -i texts
    expect_match '^recorded.safetensors: 6 sentences, [0-9]+ tokens of each, kernels [a-z0-9_]+$'
    python3 "$source_dir/tests/tools/check_recording.py" recorded.safetensors "$separate" 6 || fail 'the recording differs'
    expect_quiet_success verify model.gguf recorded.safetensors
    expect_match '^passed: 6 sentences'
    FERRY_ISA=plain expect_quiet_success verify model.gguf recorded.safetensors
    # Another model has other numbers.
    expect_success convert --quiet model.gguf --type int8 -o other.gguf
    run verify other.gguf recorded.safetensors
    expect_status 1
    expect_match '^FAILED: 6 sentences'
}

test_recording_of_usual_lines()
{
    expect_quiet_success verify "$shipped" --record recorded.safetensors
    expect_match '^recorded.safetensors: 5 sentences'
    expect_quiet_success verify "$shipped" recorded.safetensors
    expect_match '^passed: 5 sentences'
}

test_recording_refused()
{
    : > nothing
    expect_failure 'nothing: expected lines to record' verify "$shipped" --record recorded.safetensors -i nothing
    expect_failure 'nowhere: cannot open' verify "$shipped" --record recorded.safetensors -i nowhere
    expect_failure 'option to: the model has no language' verify "$shipped" --record recorded.safetensors --to French
    convert_sample none-post ids.gguf
    expect_failure 'the model has no tokenizer' verify ids.gguf --record recorded.safetensors
    expect_failure '--record ids.gguf: expected a file of its own, found one that is read as MODEL' verify ids.gguf --record ids.gguf
    [ ! -e recorded.safetensors ] || fail 'a file is left'
    expect_usage_error '--record: writes a file of its own' verify ids.gguf a.safetensors --record b.safetensors
    expect_usage_error '--tolerance: is for comparing' verify ids.gguf --record b.safetensors --tolerance 1
    expect_usage_error 'are for --record, which is not given' verify ids.gguf -i nothing
}
