/* What texts become, for compare_*.py of tests/tokenizer:
 *     answer_texts words|fsmt|text|sentences LANGUAGE
 *     answer_texts ids MODEL [FROM [TO]]
 * Texts come from standard input, each after its size in 4 bytes, as they may hold anything; to standard output goes a
 * line for each: Moses' words ("fsmt": as FSMT has them) or the text of words, in hexadecimal; where sentences end; the
 * source ids. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "engine/ferry_inspect.h"
#include "tokenizer/moses/moses.h"
#include "tokenizer/sentences.h"

/* The words after the kind. */
typedef ferry_status answer(char **arguments, ferry_view text, ferry_error *error);

static ferry_moses *moses;
static ferry_model *model;

static ferry_status print_moses(ferry_view text, bool join, ferry_error *error)
{
    ferry_string output = {0};
    FERRY_TRY((join ? ferry_moses_detokenize : ferry_moses_tokenize)(moses, text, &output, NULL, error));
    for (size_t i = 0; i < output.size; i++) printf("%02x", (unsigned char)output.data[i]);
    free(output.data);
    return FERRY_OK;
}

static ferry_status print_words(char **arguments, ferry_view text, ferry_error *error)
{
    (void)arguments;
    return print_moses(text, false, error);
}

static ferry_status print_text(char **arguments, ferry_view text, ferry_error *error)
{
    (void)arguments;
    return print_moses(text, true, error);
}

static size_t skip_space(ferry_view text, size_t at)
{
    uint32_t c;
    for (size_t after = at; after < text.size && ferry_utf8_next(text, &after, &c) && ferry_utf8_is_space(c);)
        at = after;
    return at;
}

static ferry_status print_ends(char **arguments, ferry_view text, ferry_error *error)
{
    (void)error;
    for (size_t at = skip_space(text, 0); at < text.size; at = skip_space(text, at)) {
        at = ferry_sentence_end(text, at, ferry_sentence_language_find(arguments[0]));
        printf("%zu ", at);
    }
    return FERRY_OK;
}

static ferry_status print_ids(char **arguments, ferry_view text, ferry_error *error)
{
    const char *from = arguments[1], *to = from != NULL ? arguments[2] : NULL;
    int32_t *ids;
    size_t count;
    FERRY_TRY(ferry_inspect_tokenize(model, (ferry_text){text.data, text.size}, from, to, &ids, &count, error));
    for (size_t i = 0; i < count; i++) printf("%" PRId32 " ", ids[i]);
    ferry_inspect_free(ids);
    return FERRY_OK;
}

static ferry_status answer_all(answer *print, char **arguments, ferry_error *error)
{
    for (uint32_t size; fread(&size, sizeof size, 1, stdin) == 1; putchar('\n')) {
        char *text = malloc((size_t)size + 1);
        if (text == NULL || fread(text, 1, size, stdin) != size) return ferry_fail(error, FERRY_ERROR_IO, "no text");
        FERRY_TRY(print(arguments, (ferry_view){text, size}, error));
        free(text);
    }
    return FERRY_OK;
}

int main(int count, char **arguments)
{
    static const struct {
        const char *kind;
        answer *print;
    } kinds[] = {{"words", print_words},
                 {"fsmt", print_words},
                 {"text", print_text},
                 {"sentences", print_ends},
                 {"ids", print_ids}};
    size_t i = 0;
    ferry_error error;
    if (count < 3) return 2;
    while (i < 4 && strcmp(kinds[i].kind, arguments[1]) != 0) i++;
    const ferry_view language = ferry_text_view(arguments[2]);
    ferry_status status = FERRY_OK;
    if (i < 3) status = ferry_moses_create(language, strcmp(arguments[1], "fsmt") == 0, &moses, &error);
    if (i == 4) status = ferry_model_open(arguments[2], 0, &model, &error);
    if (status == FERRY_OK) status = answer_all(kinds[i].print, arguments + 2, &error);
    if (status != FERRY_OK) fprintf(stderr, "answer_texts: %s\n", error.message);
    ferry_moses_destroy(moses);
    ferry_model_close(model);
    return status != FERRY_OK;
}
