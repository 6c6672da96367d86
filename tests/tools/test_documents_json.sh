# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # variables of run.sh and helpers.sh
# JSON: in the program. (tests/documents/test_json.c: what is read; check_json.py: Python reads what is written.)

test_json()
{
    printf '{\n  "title": "Hello!", "@title": "Hello!", "a": ["How are you?"]\n}\n' > a.json
    expect_success translate -i a.json
    expect_message 'a.json: translated as json (--format lines: line by line)'
    expect_out '{\n  "title": "Hallo!", "@title": "Hello!", "a": ["Wie geht es dir?"]\n}\n'
    run_with '{\n"a" 1}' translate --format json
    expect_status 1
    expect_message "standard input: line 2: expected ':'"
}
