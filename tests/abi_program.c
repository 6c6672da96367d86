/* A program as it was compiled with one release's header: abi_program MODEL known | unknown. The model is the one that
 * ships; the second argument tells whether the library knows every field of the header. */
#include "ferry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPARE = 512, UNTOUCHED = 0xAA };

/* What lies beyond a structure of this program. */
typedef struct guarded {
    ferry_options options;
    unsigned char after[SPARE];
} guarded;

static ferry_model *model;

static void check(int holds, const char *what, const char *message)
{
    if (holds) return;
    fprintf(stderr, "abi: not so: %s %s\n", what, message);
    exit(1);
}
#define CHECK(condition) check((condition) != 0, #condition, "")
#define SUCCEED(call) check((call) == FERRY_OK, #call, error.message)

static void fill(guarded *g)
{
    memset(g, UNTOUCHED, sizeof *g);
    CHECK(ferry_options_default(model, &g->options, sizeof g->options) == FERRY_OK);
    for (size_t i = 0; i < SPARE; i++) CHECK(g->after[i] == UNTOUCHED);
    CHECK(g->options.size == sizeof g->options);
    CHECK(g->options.beam == 4 && g->options.threads == 1);
}

static void translate(const ferry_options *options)
{
    static const char expected[] = "Guten Morgen!";
    const ferry_text line = {"Good morning!", 13};
    ferry_error error;
    ferry_translator *translator;
    ferry_result *result;
    SUCCEED(ferry_translator_create(model, options, &translator, &error));
    SUCCEED(ferry_translate(translator, &line, 1, &result, &error));
    const ferry_text text = ferry_result_text(result, 0, 0);
    CHECK(text.size == strlen(expected) && memcmp(text.data, expected, text.size) == 0);
    ferry_result_destroy(result);
    ferry_translator_destroy(translator);
}

#ifdef FERRY_OPTIONS_GROWN
static void try_new_field(guarded *g, int known)
{
    ferry_error error;
    ferry_translator *translator;
    char place[64];
    CHECK(g->options.grown[0] == (known ? 7 : 0));
    g->options.grown[0] = 9;
    if (known) {
        translate(&g->options);
        return;
    }
    CHECK(ferry_translator_create(model, &g->options, &translator, &error) == FERRY_ERROR_ARGUMENT);
    snprintf(place, sizeof place, "ferry_options: expected 0 at byte %zu, found 9", offsetof(ferry_options, grown));
    check(strstr(error.message, place) != NULL, place, error.message);
}
#endif

int main(int argc, char **argv)
{
    ferry_error error;
    guarded g;
    CHECK(argc == 3);
    SUCCEED(ferry_model_open(argv[1], 0, &model, &error));
    fill(&g);
    translate(&g.options);
    g.options.beam = 1;
    translate(&g.options);
    translate(NULL);
#ifdef FERRY_OPTIONS_GROWN
    try_new_field(&g, strcmp(argv[2], "known") == 0);
#endif
    ferry_model_close(model);
    return 0;
}
