#include <stdlib.h>
#include <string.h>

#include "moses_data.h"
#include "moses_private.h"

enum { LARGEST_TEXT = 64 << 20 }; /* bytes */

/* ---- languages ---- */

bool ferry_moses_speaks(const ferry_moses_language *language, const char *code)
{
    return strcmp(language->code, code) == 0;
}

bool ferry_moses_speaks_one_of(const ferry_moses_language *language, const char *codes)
{
    const size_t size = strlen(language->code);
    for (const char *code = codes; size > 0 && code != NULL; code = strchr(code, ' ')) {
        code += *code == ' ';
        if (strncmp(code, language->code, size) == 0 && (code[size] == ' ' || code[size] == '\0')) return true;
    }
    return false;
}

static const char *words_of(const char *code)
{
    const char *english = "";
    for (size_t i = 0; i < ferry_moses_prefix_count; i++) {
        if (strcmp(ferry_moses_prefixes[i].language, code) == 0) return ferry_moses_prefixes[i].words;
        if (strcmp(ferry_moses_prefixes[i].language, "en") == 0) english = ferry_moses_prefixes[i].words;
    }
    return english;
}

static ferry_status set_prefixes(ferry_moses_language *language, ferry_error *error)
{
    const char *words = words_of(language->code);
    size_t count = 0;
    for (const char *c = words; *c != '\0'; c++) count += *c == '\n';
    language->prefixes = calloc(count, sizeof *language->prefixes);
    if (language->prefixes == NULL) return ferry_fail_memory(error, "abbreviations", count);
    for (const char *end; (end = strchr(words, '\n')) != NULL; words = end + 1) {
        const bool numeric = *words == '#';
        words += numeric;
        language->prefixes[language->prefix_count++] =
            (ferry_moses_prefix){.word = {words, (size_t)(end - words)}, .numeric = numeric};
    }
    return FERRY_OK;
}

static ferry_status set_language(ferry_moses_language *language, ferry_view code, ferry_error *error)
{
    static const struct {
        const char *languages;
        uint32_t letters;
    } scripts[] = {{"zh cjk", FERRY_MOSES_CHINESE}, {"ja cjk", FERRY_MOSES_JAPANESE}, {"ko cjk", FERRY_MOSES_KOREAN}};
    if (code.size < sizeof language->code) memcpy(language->code, code.data, code.size);
    language->letters = FERRY_MOSES_ALNUM;
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        if (ferry_moses_speaks_one_of(language, scripts[i].languages)) language->letters |= scripts[i].letters;
    return set_prefixes(language, error);
}

ferry_status ferry_moses_create(const ferry_moses_config *config, ferry_moses **moses, ferry_error *error)
{
    *moses = NULL;
    ferry_moses *made = calloc(1, sizeof *made);
    if (made == NULL) return ferry_fail_memory(error, "a tokenizer", sizeof *made);
    made->config = *config;
    ferry_status status = set_language(&made->source, config->source_language, error);
    if (status == FERRY_OK) status = set_language(&made->target, config->target_language, error);
    if (status == FERRY_OK)
        *moses = made;
    else
        ferry_moses_destroy(made);
    return status;
}

void ferry_moses_destroy(ferry_moses *moses)
{
    if (moses == NULL) return;
    free(moses->source.prefixes);
    free(moses->target.prefixes);
    free(moses);
}

/* ---- text → words ---- */

ferry_status ferry_moses_check_size(ferry_view text, ferry_error *error)
{
    if (text.size <= LARGEST_TEXT) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_LIMIT, "a text to tokenize: expected at most %d bytes, found %zu",
                      LARGEST_TEXT, text.size);
}

static ferry_status tokenize(const ferry_moses *moses, const ferry_moses_language *language, ferry_view text,
                             ferry_string *words, size_t **places, ferry_error *error)
{
    ferry_moses_text work = {0};
    if (places != NULL) *places = NULL;
    FERRY_TRY(ferry_moses_check_size(text, error));
    ferry_moses_text_set(&work, text);
    ferry_moses_normalize(moses, language, &work);
    ferry_moses_split(moses, language, &work);
    const ferry_status status = ferry_moses_write(&work, text.size, words, places, error);
    ferry_moses_text_destroy(&work);
    return status;
}

ferry_status ferry_moses_tokenize(const ferry_moses *moses, ferry_view text, ferry_string *words, size_t **places,
                                  ferry_error *error)
{
    return tokenize(moses, &moses->source, text, words, places, error);
}

ferry_status ferry_moses_tokenize_target(const ferry_moses *moses, ferry_view text, ferry_string *words,
                                         size_t **places, ferry_error *error)
{
    return tokenize(moses, &moses->target, text, words, places, error);
}
