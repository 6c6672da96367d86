#!/bin/bash
# Every key that docs/models.md lists is in the importers of Hugging Face's directories, and the other way around.
set -euo pipefail
cd "$(dirname "$0")/.."

folder=models/families/huggingface table=models/families/choices.c
listed()
{
    sed -n '/<!-- keys:/,/<!-- end of keys/p' docs/models.md | cut -d'|' -f2 | grep -o "\`[a-z_*]*\`" | tr -d "\`" | sort -u
}
# Keys of the table of choices, of key tables, and arguments of the functions that read one key.
read_by_code()
{
    {
        grep -oE '^ +\{(CONFIG|GENERATION), [^"]*"[a-z_*]+"' "$table" | grep -v FERRY_CHOICES_CTRANSLATE2
        cat "$folder"/{bart_families,generation_config,huggingface,t5}.c | grep -oE '\{"[a-z_]+", (\.|[0-9]+\})|(json_(get|text|bool|integer|float)|read_(ids|forced|limit))\([^;"]*"[a-z_]+"'
    } | grep -oE '"[a-z_*]+"' | tr -d '"' | sort -u
}
of_tokenizers='^(extra_ids|language_codes|legacy_behaviour|offset|separate_vocabs|source_lang|target_lang)$'

failures=0
while IFS= read -r key; do
    grep -qF "\"$key\"" "$folder"/*.c "$table" || { echo "check_keys: docs/models.md lists '$key', which no importer reads" >&2; failures=1; }
done < <(listed)
while IFS= read -r key; do
    [[ $key =~ $of_tokenizers ]] || listed | grep -qxF "$key" ||
        { echo "check_keys: '$key' is read, but not listed in docs/models.md" >&2; failures=1; }
done < <(read_by_code)
[ "$(listed | wc -l)" -gt 60 ] || { echo "check_keys: docs/models.md has no list" >&2; failures=1; }
[ "$failures" -eq 0 ]
