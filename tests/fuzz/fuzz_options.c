/* Any bytes as options: refused, or a translator, which translates if that is little work. The bytes of ferry_options
 * that are no pointers, then suppressed ids, then two languages, each ended by NUL. */
#define _POSIX_C_SOURCE 200809L /* strnlen */
#include "embedded_model.h"

enum { MOST_IDS = 4, MOST_TEXT = 32, MOST_TOKENS = 64, MOST_BEAM = 8, MOST_BATCH = 64, MOST_THREADS = 4 };

/* A text of at most MOST_TEXT bytes in memory of exactly its size; NULL: the input has ended. */
static char *take_text(ferry_view *input)
{
    if (input->size == 0) return NULL;
    size_t size = strnlen(input->data, input->size < MOST_TEXT ? input->size : MOST_TEXT);
    char *text = malloc(size + 1);
    if (text == NULL) abort();
    memcpy(text, input->data, size);
    text[size] = '\0';
    if (size < input->size) size++;
    *input = (ferry_view){input->data + size, input->size - size};
    return text;
}

static void take(ferry_view *input, void *to, size_t size)
{
    if (size > input->size) size = input->size;
    memcpy(to, input->data, size);
    *input = (ferry_view){input->data + size, input->size - size};
}

static void translate(ferry_translator *translator, size_t count)
{
    static const ferry_text lines[] = {{"a b c d e f g", 13}, {" ", 1}, {"\xFF g", 3}};
    ferry_result *result;
    ferry_error error;
    if (ferry_translate(translator, lines, 3, &result, &error) != FERRY_OK) return;
    for (size_t i = 0; i < 3; i++) {
        if (ferry_result_outcome(result, i)->status != FERRY_OK) continue;
        if (ferry_result_hypothesis_count(result, i) > count) abort();
        for (size_t h = 0; h < ferry_result_hypothesis_count(result, i); h++) {
            const ferry_text text = ferry_result_text(result, i, h);
            read_all((ferry_view){text.data, text.size});
        }
    }
    ferry_result_destroy(result);
}

static bool is_little(const ferry_options *o)
{
    return o->beam <= MOST_BEAM && o->nbest <= MOST_BEAM && o->batch <= MOST_BATCH && o->threads <= MOST_THREADS &&
           o->max_length <= MOST_TOKENS && o->min_length <= MOST_TOKENS && o->length_factor <= 4 &&
           o->length_extra <= MOST_TOKENS && o->search->patience <= 4;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const ferry_model *model = open_embedded_model();
    ferry_view input = {(const char *)data, size};
    ferry_options options;
    ferry_search_options search;
    int32_t ids[MOST_IDS] = {0};
    ferry_translator *translator;
    ferry_error error;
    if (ferry_options_default(model, &options, sizeof options) != FERRY_OK) abort();
    if (ferry_search_options_default(model, &search, sizeof search) != FERRY_OK) abort();
    take(&input, &options.beam, offsetof(ferry_options, progress) - offsetof(ferry_options, beam));
    take(&input, &options.scores, offsetof(ferry_options, search) - offsetof(ferry_options, scores));
    take(&input, ids, sizeof ids);
    char *from = take_text(&input), *to = take_text(&input);
    take(&input, &search.policy,
         offsetof(ferry_search_options, suppressed_ids) - offsetof(ferry_search_options, policy));
    take(&input, &search.patience, sizeof search - offsetof(ferry_search_options, patience));
    search.suppressed_ids = ids;
    search.suppressed_count = MOST_IDS;
    options.search = &search;
    options.from = from;
    options.to = to;
    if (options.threads > MOST_THREADS) options.threads = MOST_THREADS;
    if (ferry_translator_create(model, &options, &translator, &error) == FERRY_OK) {
        if (is_little(&options)) translate(translator, (size_t)options.nbest);
        ferry_translator_destroy(translator);
    }
    free(from);
    free(to);
    return 0;
}
