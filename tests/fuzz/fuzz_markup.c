/* Any bytes as markup, which a small model translates: every item is in the translation once, within the same elements,
 * and the rest is well-formed text in the order of the sentences. The first byte chooses options. */
#include "embedded_model.h"

#include "tests/support/markup_fault.h"

/* Where max_source is 1, sentences fail. */
static void choose(ferry_options *options, uint8_t choice)
{
    options->beam = options->nbest = 1 + choice % 2;
    options->max_source = choice < 2 ? 1 : 4 + choice;
    options->max_length = 1 + choice;
}

static void check_sentences(const ferry_result *result, ferry_view markup, ferry_view target)
{
    size_t from = 0, to = 0;
    for (size_t i = 0; i < ferry_result_sentence_count(result); i++) {
        const ferry_sentence s = *ferry_result_sentence(result, i);
        if (s.source_begin < from || s.source_end <= s.source_begin || s.source_end > markup.size) abort();
        if (s.target_begin < to || s.target_end < s.target_begin || s.target_end > target.size) abort();
        from = s.source_end;
        to = s.target_end;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    const ferry_view markup = {(const char *)data + 1, size - 1};
    ferry_translator *translator = find_translator(data[0] % CHOICES, choose);
    ferry_result *result;
    if (ferry_translate_markup(translator, (ferry_text){markup.data, markup.size}, &result, NULL) != FERRY_OK) abort();
    const ferry_text text = ferry_result_text(result, 0, 0);
    const ferry_view target = {text.data, text.size};
    const char *fault = find_fault(markup, target);
    if (fault != NULL) {
        fprintf(stderr, "%s\n%.*s\n", fault, (int)target.size, target.data);
        abort();
    }
    if (ferry_utf8_is_valid(markup) && !ferry_utf8_is_valid(target)) abort();
    check_sentences(result, markup, target);
    ferry_result_destroy(result);
    return 0;
}
