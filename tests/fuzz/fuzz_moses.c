/* Any bytes as a text of a language, and as words of it: Moses' words, the text that they are joined to, and what ids
 * stand for in both. The first byte chooses language and kind. */
#include "use_tokenizer.h"

#include "tokenizer/moses/moses.h"
#include "base/memory.h"

#define VIEW(literal) ((ferry_view){literal, sizeof(literal) - 1})

static const ferry_view pieces[] = {VIEW("<unk>"),  VIEW("a@@"), VIEW("a"),      VIEW("&@@"),
                                    VIEW("apos@@"), VIEW(";"),   VIEW("\""),     VIEW("'"),
                                    VIEW("&quot;"), VIEW("@-@"), VIEW("\u4E2D"), VIEW("@@")};
static const ferry_view merges[] = {VIEW("a p"), VIEW("ap o"), VIEW("apo s"), VIEW("a a</w>")};

static void require(bool holds)
{
    if (!holds) __builtin_trap();
}

/* What a function made of `text`. */
static void check(ferry_view text, const ferry_buffer *output, const size_t *offsets)
{
    require(ferry_utf8_is_valid((ferry_view){output->data, output->size}) && output->size <= 16 * text.size);
    require(offsets[output->size] == text.size);
    for (size_t i = 0; i < output->size; i++) require(offsets[i] <= offsets[i + 1]);
}

static void check_strings(ferry_view language, bool fsmt, ferry_view text)
{
    ferry_moses *moses;
    ferry_error error;
    ferry_buffer words = {0}, joined = {0};
    size_t *offsets;
    if (ferry_moses_create(language, fsmt, &moses, &error) != FERRY_OK) return;
    require(ferry_moses_tokenize(moses, text, &words, &offsets, &error) == FERRY_OK);
    check(text, &words, offsets);
    free(offsets);
    const ferry_view made = {words.data, words.size};
    require(ferry_moses_detokenize(moses, made, &joined, &offsets, &error) == FERRY_OK);
    check(made, &joined, offsets);
    free(offsets);
    require(ferry_moses_detokenize(moses, text, &joined, &offsets, &error) == FERRY_OK);
    check(text, &joined, offsets);
    free(offsets);
    free(words.data);
    free(joined.data);
    ferry_moses_destroy(moses);
}

static void check_ids(ferry_view language, bool fsmt, ferry_view text)
{
    enum { COUNT = sizeof pieces / sizeof *pieces, MOST = 64 };
    ferry_arena arena = {0};
    const ferry_string_table *listed = join(pieces, COUNT, &arena),
                             *joining = join(merges, sizeof merges / sizeof *merges, &arena);
    const ferry_tokenizer_config config = {
        .source_pieces = listed,
        .source_count = COUNT,
        .target_pieces = listed,
        .target_count = COUNT,
        .kind = fsmt ? FERRY_TOKENIZER_FSMT : FERRY_TOKENIZER_SUBWORD_NMT_2,
        .source_merges = joining,
        .source_merge_count = sizeof merges / sizeof *merges,
        .target_merges = joining,
        .target_merge_count = sizeof merges / sizeof *merges,
        .source_moses = language,
        .target_moses = language,
    };
    ferry_tokenizer *tokenizer;
    int32_t chosen[MOST];
    ferry_range parts[MOST];
    ferry_ids ids = {.ids = chosen};
    if (ferry_tokenizer_create(&config, &tokenizer, NULL) == FERRY_OK) {
        require(use_tokenizer(tokenizer, text, NULL));
        for (; ids.count < MOST && ids.count < text.size; ids.count++)
            chosen[ids.count] = (uint8_t)text.data[ids.count] % COUNT;
        const ferry_buffer output = decode(tokenizer, &ids, parts);
        require(fault_of_ranges((ferry_view){output.data, output.size}, parts, ids.count) == NULL);
        free(output.data);
        ferry_tokenizer_destroy(tokenizer);
    }
    ferry_arena_destroy(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"en", "de", "fr", "it", "es", "cs", "ga", "ko", "zh", "ja", "cjk", "xx"};
    enum { COUNT = sizeof names / sizeof *names };
    if (size == 0) return 0;
    const ferry_view text = {(const char *)data + 1, size - 1}, name = ferry_text_view(names[data[0] % COUNT]);
    const bool fsmt = data[0] / COUNT % 2 == 1;
    check_strings(name, fsmt, text);
    check_ids(name, fsmt, text);
    return 0;
}
