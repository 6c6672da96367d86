# shellcheck shell=bash
# shellcheck disable=SC2154 # variables of run.sh
# Whatever names and texts contain, no control character of theirs reaches a terminal.

test_hostile_text()
{
    python3 "$source_dir/tests/tools/hostile_text.py" "$ferry" "$source_dir" || fail "raw text"
}
