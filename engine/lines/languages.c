#include "languages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/language_names.h"
#include "base/utf8.h"
#include "model.h"
#include "tokenizer/sentences.h"

enum { MAX_PROMPT = 1024 }; /* bytes */

/* ---- names and roles ---- */

/* `role` if the language has it, and a tag where the model needs one; else 0. */
static int32_t role_of(const ferry_model_languages *table, int32_t index, int32_t role)
{
    const bool source = role == FERRY_LANGUAGE_SOURCE;
    const ferry_tag_position position = source ? table->source_tag : table->target_tag;
    const int32_t id = (source ? table->source_ids : table->target_ids)[index];
    return position == FERRY_TAG_NONE || id >= 0 ? table->roles[index] & role : 0;
}

/* The next word of *text, which then points behind it; empty at the end. */
static ferry_view next_word(const char **text)
{
    const ferry_view word = {*text, strcspn(*text, " ")};
    *text += word.size + ((*text)[word.size] == ' ');
    return word;
}

/* Splits "tag other other" into the tag and "other other". */
static ferry_status describe(const ferry_model_languages *table, int32_t index, ferry_arena *arena,
                             ferry_language *language, ferry_error *error)
{
    const ferry_view names = ferry_string_table_at(table->names, (size_t)index);
    bool named = names.size > 0 && names.data[0] != ' ' && ferry_utf8_is_valid(names);
    for (size_t i = 0; i < names.size; i++)
        named = named && (unsigned char)names.data[i] >= ' ' && names.data[i] != 0x7F;
    if (!named)
        return ferry_fail(error, FERRY_ERROR_FORMAT,
                          "key 'ferry.languages.names': expected a tag and other names, found '%s'",
                          ferry_printable_view(names).text);
    const char *blank = memchr(names.data, ' ', names.size);
    const size_t tag = blank != NULL ? (size_t)(blank - names.data) : names.size;
    const size_t rest = blank != NULL ? tag + 1 : tag;
    language->tag = ferry_arena_text(arena, (ferry_view){names.data, tag});
    language->names = ferry_arena_text(arena, (ferry_view){names.data + rest, names.size - rest});
    if (language->tag == NULL || language->names == NULL)
        return ferry_fail_memory(error, "the names of languages", names.size, 1);
    /* The English name of the first code that has one, else "". */
    const char *codes = language->names;
    const ferry_language_name *row = NULL;
    while (row == NULL && *codes != '\0') row = ferry_language_name_find(next_word(&codes));
    if (row == NULL) row = ferry_language_name_find(ferry_text_view(language->tag));
    language->english = row != NULL ? row->name : "";
    language->roles = role_of(table, index, FERRY_LANGUAGE_SOURCE) | role_of(table, index, FERRY_LANGUAGE_TARGET) |
                      (index == table->default_source ? FERRY_LANGUAGE_DEFAULT_SOURCE : 0) |
                      (index == table->default_target ? FERRY_LANGUAGE_DEFAULT_TARGET : 0);
    return FERRY_OK;
}

ferry_status ferry_languages_create(ferry_model *model, ferry_error *error)
{
    const ferry_model_languages *table = &model->file.languages;
    const size_t count = (size_t)table->count;
    if (count == 0) return FERRY_OK;
    for (size_t i = 0; i < (size_t)table->prompt_count; i++) { /* a prompt is tokenized with every line */
        const size_t size = ferry_string_table_at(table->prompts, i).size;
        if (size > MAX_PROMPT)
            return ferry_fail(error, FERRY_ERROR_FORMAT,
                              "key 'ferry.languages.prompts': expected texts of at most %d bytes, found one of %zu",
                              (int)MAX_PROMPT, size);
    }
    ferry_language *list = model->languages = ferry_arena_alloc(&model->file.arena, count, sizeof *list);
    if (list == NULL) return ferry_fail_memory(error, "the names of languages", count, sizeof *list);
    for (int32_t i = 0; i < table->count; i++) FERRY_TRY(describe(table, i, &model->file.arena, &list[i], error));
    return FERRY_OK;
}

/* ---- a name becomes a language ---- */

typedef int comparison(const char *a, const char *b, size_t size);

/* Whether a word of `text` is `name`; with `more`, whether a word begins with `name`. */
static bool has_word(const char *text, ferry_view name, bool more, comparison *compare)
{
    while (*text != '\0' && name.size > 0) {
        const ferry_view word = next_word(&text);
        if ((more ? word.size >= name.size : word.size == name.size) && compare(word.data, name.data, name.size) == 0)
            return true;
    }
    return false;
}

/* Finds `name` among the languages of this role: first as a tag, then as another name, then as either without regard
 * to case. FERRY_LANGUAGE_OPEN if it is none. */
static int32_t find_code(const ferry_model *model, const char *name, int32_t role)
{
    for (int t = 0; t < 4; t++)
        for (int32_t i = 0; i < model->file.languages.count; i++) {
            const ferry_language *language = &model->languages[i];
            if ((language->roles & role) != 0 &&
                has_word(t % 2 == 0 ? language->tag : language->names, ferry_text_view(name), false,
                         t < 2 ? strncmp : ferry_compare_letters))
                return i;
        }
    return FERRY_LANGUAGE_OPEN;
}

/* Whether a word of `text` and `name` begin with the same letters. */
static bool begins_alike(const char *text, const char *name)
{
    enum { LETTERS = 3 };
    const size_t length = strlen(name);
    return has_word(text, (ferry_view){name, length < LETTERS ? length : LETTERS}, true, ferry_compare_letters);
}

/* Lists the languages of this role, ": de (German), fr (French)". Of more than FEW languages, lists only those that
 * begin as `name` does. */
static void list_languages(const ferry_model *model, const char *name, int32_t role, char *list, size_t size)
{
    static const char more[] = ", …";
    enum { FEW = 12 };
    size_t used = 0;
    list[0] = '\0';
    for (int32_t i = 0; i < model->file.languages.count; i++) {
        const ferry_language *language = &model->languages[i];
        const bool shown = model->file.languages.count <= FEW || begins_alike(language->tag, name) ||
                           begins_alike(language->names, name) || begins_alike(language->english, name);
        if (!shown || (language->roles & role) == 0) continue;
        const int written = snprintf(list + used, size - used, language->english[0] != '\0' ? "%s%s (%s)" : "%s%s",
                                     used == 0 ? ": " : ", ", language->tag, language->english);
        if (used + (size_t)written + sizeof more > size) {
            snprintf(list + used, size - used, "%s", more);
            return;
        }
        used += (size_t)written;
    }
}

static ferry_status find_language(const ferry_model *model, const char *option, const char *name, int32_t role,
                                  int32_t by_default, int32_t *index, ferry_error *error)
{
    const ferry_model_languages *table = &model->file.languages;
    const ferry_language_name *row;
    *index = by_default >= 0 && by_default < table->count ? by_default : FERRY_LANGUAGE_OPEN;
    if (name == NULL) return FERRY_OK;
    *index = name[0] != '\0' ? find_code(model, name, role) : FERRY_LANGUAGE_NONE;
    for (size_t i = 0; *index == FERRY_LANGUAGE_OPEN && (row = ferry_language_name_at(i)) != NULL; i++) {
        if (!ferry_same_letters(ferry_text_view(row->name), ferry_text_view(name))) continue; /* an English name */
        *index = find_code(model, row->code, role);
        if (*index == FERRY_LANGUAGE_OPEN) *index = find_code(model, row->short_code, role);
    }
    if (*index != FERRY_LANGUAGE_OPEN) return FERRY_OK;
    if (table->count == 0)
        return ferry_fail_option(error, option, "the model does not say which languages it translates; found '%s'",
                                 name);
    char list[300];
    list_languages(model, name, role, list, sizeof list);
    return ferry_fail_option(
        error, option, "the model has no language '%s' to translate %s; ferry_model_language lists its languages%s",
        name, option[0] == 'f' ? "from" : "into", list);
}

ferry_status ferry_languages_find(const ferry_model *model, const char *from, const char *to, ferry_language_pair *pair,
                                  ferry_error *error)
{
    const ferry_model_languages *table = &model->file.languages;
    FERRY_TRY(find_language(model, "from", from, FERRY_LANGUAGE_SOURCE, table->default_source, &pair->source, error));
    return find_language(model, "to", to, FERRY_LANGUAGE_TARGET, table->default_target, &pair->target, error);
}

/* ---- what a pair adds ---- */

/* The prompt of the pair; empty if there is none. */
static ferry_view prompt_of(const ferry_model_languages *table, ferry_language_pair pair)
{
    for (size_t i = 0; i < (size_t)table->prompt_count; i++) {
        const int32_t source = table->prompt_sources[i], target = table->prompt_targets[i];
        if ((source < 0 || source == pair.source) && (target < 0 || target == pair.target))
            return ferry_string_table_at(table->prompts, i);
    }
    return (ferry_view){"", 0};
}

ferry_status ferry_languages_check(const ferry_model *model, ferry_language_pair pair, int32_t forced_first_id,
                                   ferry_error *error)
{
    const ferry_model_languages *table = &model->file.languages;
    if (table->source_tag != FERRY_TAG_NONE && pair.source == FERRY_LANGUAGE_OPEN)
        return ferry_fail_option(error, "from",
                                 "the model needs the language to translate from; ferry_model_language "
                                 "lists its languages");
    const bool open =
        table->target_tag == FERRY_TAG_SUFFIX || (table->target_tag == FERRY_TAG_FIRST && forced_first_id < 0);
    if (open && pair.target == FERRY_LANGUAGE_OPEN)
        return ferry_fail_option(error, "to",
                                 "the model needs the language to translate into; ferry_model_language "
                                 "lists its languages");
    if (table->prompt_count > 0 && pair.target >= 0 && prompt_of(table, pair).size == 0)
        return ferry_fail_option(error, pair.target != table->default_target ? "to" : "from",
                                 "the model has no prompt to translate from '%s' into '%s'",
                                 pair.source >= 0 ? model->languages[pair.source].tag : "any",
                                 model->languages[pair.target].tag);
    return FERRY_OK;
}

/* The first prompt that is one piece, for a target language and any source: "<2de>"; empty if there is none. */
static ferry_view tag_prompt(const ferry_model_languages *table, const ferry_tokenizer *tokenizer)
{
    for (size_t i = 0; i < (size_t)table->prompt_count; i++) {
        const ferry_view prompt = ferry_utf8_trim(ferry_string_table_at(table->prompts, i));
        if (table->prompt_sources[i] < 0 && table->prompt_targets[i] >= 0 &&
            ferry_tokenizer_has_piece(tokenizer, prompt))
            return prompt;
    }
    return (ferry_view){"", 0};
}

ferry_status ferry_languages_check_line(const ferry_model *model, ferry_language_pair pair, ferry_view line,
                                        ferry_error *error)
{
    const ferry_model_languages *table = &model->file.languages;
    const ferry_tokenizer *tokenizer = model->tokenizer;
    const ferry_view form = tag_prompt(table, tokenizer);
    ferry_view tag = {line.data, ferry_tokenizer_tag_size(tokenizer, line)};
    if (tag.size == 0 && form.size > 2) {
        /* A word in the form of the model's tags has their first two bytes and their last one. */
        const char *end = memchr(line.data, form.data[form.size - 1], line.size);
        const size_t size = end != NULL ? (size_t)(end - line.data) + 1 : 0;
        if (size > 2 && memcmp(line.data, form.data, 2) == 0 && memchr(line.data, ' ', size) == NULL) tag.size = size;
    }
    if (tag.size > 0 && !ferry_tokenizer_has_piece(tokenizer, tag))
        return ferry_fail(error, FERRY_ERROR_ARGUMENT, "the model has no tag '%s', with which the line begins",
                          ferry_printable_view(tag).text);
    if (tag.size > 0 || pair.target != FERRY_LANGUAGE_OPEN || (form.size == 0 && table->target_tag != FERRY_TAG_PREFIX))
        return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_ARGUMENT,
                      "the model needs the language to translate into: option to, or a tag that it has at the line's "
                      "beginning; ferry_model_language lists its languages");
}

const ferry_sentence_language *ferry_languages_sentences(const ferry_model *model, ferry_language_pair pair)
{
    const ferry_sentence_language *common = ferry_sentence_language_find(NULL);
    if (pair.source < 0) return common;
    const ferry_sentence_language *by_tag = ferry_sentence_language_find(model->languages[pair.source].tag);
    return by_tag != common ? by_tag : ferry_sentence_language_find(model->languages[pair.source].names);
}

int32_t ferry_languages_first_id(const ferry_model *model, ferry_language_pair pair)
{
    const ferry_model_languages *table = &model->file.languages;
    return table->target_tag == FERRY_TAG_FIRST && pair.target >= 0 ? table->target_ids[pair.target] : -1;
}

/* Adds the tag of language `index`, if it has one, to the ids and ranges (NULL: not wanted) of `size` bytes of text. */
static ferry_status add_tag(ferry_ids *ids, ferry_ranges *ranges, size_t size, ferry_tag_position position,
                            const int32_t *tags, int32_t index, ferry_error *error)
{
    const bool first = position == FERRY_TAG_PREFIX;
    const size_t at = first ? 0 : size;
    if (index < 0 || tags[index] < 0 || !(first || position == FERRY_TAG_SUFFIX)) return FERRY_OK;
    if (ranges != NULL) FERRY_TRY(ferry_ranges_insert(ranges, first ? 0 : ranges->count, (ferry_range){at, at}, error));
    return ferry_ids_insert(ids, first ? 0 : ids->count, tags[index], error);
}

static size_t after(size_t offset, size_t begin)
{
    return offset > begin ? offset - begin : 0;
}

/* With a prompt, a tag is ordinary text. */
static ferry_status encode_with_prompt(const ferry_tokenizer *tokenizer, ferry_view prompt, ferry_view tag,
                                       ferry_view part, ferry_ids *ids, ferry_ranges *ranges, ferry_error *error)
{
    if (prompt.size == 0) return ferry_tokenizer_encode_ranges(tokenizer, tag, part, ids, ranges, error);
    ferry_buffer text = {0};
    const ferry_view pieces[] = {prompt, tag, part};
    ferry_status status = FERRY_OK;
    for (size_t i = 0; status == FERRY_OK && i < sizeof pieces / sizeof *pieces; i++)
        status = ferry_buffer_append(&text, pieces[i], error);
    const size_t first =
        status == FERRY_OK ? ferry_tokenizer_tag_size(tokenizer, (ferry_view){text.data, text.size}) : 0;
    const size_t begin = after(prompt.size + tag.size, first); /* of the part, in the tokenized text */
    if (status == FERRY_OK)
        status = ferry_tokenizer_encode_ranges(tokenizer, (ferry_view){text.data, first},
                                               (ferry_view){text.data + first, text.size - first}, ids, ranges, error);
    for (size_t i = 0; status == FERRY_OK && ranges != NULL && i < ranges->count; i++) {
        ferry_range *range = &ranges->ranges[i];
        *range = (ferry_range){after(range->begin, begin), after(range->end, begin)};
    }
    free(text.data);
    return status;
}

ferry_status ferry_languages_encode_part(const ferry_model *model, ferry_language_pair pair, ferry_view tag,
                                         ferry_view part, ferry_ids *ids, ferry_ranges *ranges, ferry_error *error)
{
    const ferry_model_languages *table = &model->file.languages;
    const bool own_tag = table->target_tag == FERRY_TAG_PREFIX && tag.size > 0;
    FERRY_TRY(encode_with_prompt(model->tokenizer, prompt_of(table, pair), tag, part, ids, ranges, error));
    if (!own_tag) FERRY_TRY(add_tag(ids, ranges, part.size, table->target_tag, table->target_ids, pair.target, error));
    /* After the target's tag: if both are at one end, the source's is the outer one. */
    return add_tag(ids, ranges, part.size, table->source_tag, table->source_ids, pair.source, error);
}

/* ---- the public list ---- */

size_t ferry_model_language_count(const ferry_model *model)
{
    return model != NULL ? (size_t)model->file.languages.count : 0;
}

const ferry_language *ferry_model_language(const ferry_model *model, size_t index)
{
    return index < ferry_model_language_count(model) ? &model->languages[index] : NULL;
}
