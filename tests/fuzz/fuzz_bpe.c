/* Any bytes as a file of merges, up to the first NUL, and a text behind it: refused, or merges whose tokenizer makes
 * ids that stand for the text, and text of ids. The first byte chooses the kind and its choices. */
#include "use_tokenizer.h"

#include "models/containers/vocabulary_files.h"
#include "tokenizer/bpe.h"
#include "base/memory.h"

enum { MAX_PIECES = 1 << 10 };

/* The segments adjoin each other and are all of a word. */
static ferry_status follow(void *user, size_t begin, size_t end, int32_t id)
{
    size_t *place = user;
    if (begin != *place || end <= begin || id < 0) abort();
    *place = end;
    return FERRY_OK;
}

static void use_words(const ferry_tokenizer_config *config, ferry_view text)
{
    ferry_vocabulary vocabulary;
    ferry_bpe_config bpe = {.kind = config->kind,
                            .merges = config->source_merges,
                            .merge_count = (size_t)config->source_merge_count,
                            .vocabulary = &vocabulary,
                            .word_end = config->word_end,
                            .fuse_unknown = config->fuse_unknown,
                            .byte_fallback = config->byte_fallback,
                            .whole_words = config->whole_words};
    ferry_bpe_scratch scratch = {0};
    ferry_bpe *made;
    size_t place = 0;
    if (ferry_vocabulary_create(config->source_pieces, config->source_count, &vocabulary, NULL) != FERRY_OK) abort();
    if (ferry_bpe_create(&bpe, "merges", &made, NULL) == FERRY_OK) {
        if (ferry_bpe_segment(made, text, &scratch, follow, &place, NULL) != FERRY_OK || place != text.size) abort();
        ferry_bpe_destroy(made);
    }
    ferry_bpe_scratch_destroy(&scratch);
    ferry_vocabulary_destroy(&vocabulary);
}

/* "<unk>", the merges' parts, what they are together, and that with "@@", so far as there is room; the bytes. */
static int32_t make_pieces(const ferry_bpe_codes *codes, bool bytes, ferry_view *pieces, ferry_arena *arena)
{
    int32_t count = 0;
    pieces[count++] = ferry_text_view("<unk>");
    for (int32_t i = 0; i < codes->count && count + 4 + 256 <= MAX_PIECES; i++) {
        const ferry_view merge = ferry_string_table_at(codes->merges, (size_t)i);
        const size_t left = (size_t)((const char *)memchr(merge.data, ' ', merge.size) - merge.data);
        char *joined = ferry_arena_alloc(arena, merge.size + 1, 1);
        if (joined == NULL) abort();
        memcpy(joined, merge.data, left);
        memcpy(joined + left, merge.data + left + 1, merge.size - left - 1);
        memcpy(joined + merge.size - 1, "@@", 2);
        pieces[count++] = (ferry_view){joined, left};
        pieces[count++] = (ferry_view){joined + left, merge.size - 1 - left};
        pieces[count++] = (ferry_view){joined, merge.size - 1};
        pieces[count++] = (ferry_view){joined, merge.size + 1};
    }
    for (unsigned byte = 0; bytes && byte < 256; byte++) {
        const ferry_short_text name = ferry_format("<0x%02X>", byte);
        pieces[count++] = (ferry_view){ferry_arena_text(arena, ferry_text_view(name.text)), 6};
    }
    return count;
}

static void use(const ferry_bpe_codes *codes, uint8_t choices, ferry_view text, ferry_arena *arena)
{
    ferry_view pieces[MAX_PIECES];
    ferry_tokenizer *tokenizer;
    const bool bytes = (choices & 16) != 0;
    const int32_t count = make_pieces(codes, bytes, pieces, arena);
    const ferry_string_table *listed = join(pieces, (size_t)count, arena);
    ferry_tokenizer_config config = {.source_pieces = listed,
                                     .source_count = count,
                                     .target_pieces = listed,
                                     .target_count = count,
                                     .kind = (ferry_tokenizer_kind)(FERRY_TOKENIZER_BPE + choices % 4),
                                     .source_merges = codes->merges,
                                     .source_merge_count = codes->count,
                                     .fuse_unknown = (choices & 4) != 0,
                                     .whole_words = (choices & 8) != 0,
                                     .byte_fallback = bytes};
    config.target_merges = config.source_merges;
    config.target_merge_count = config.source_merge_count;
    if ((choices & 32) != 0) config.word_end = ferry_text_view("</w>");
    use_words(&config, text);
    if (ferry_tokenizer_create(&config, &tokenizer, NULL) != FERRY_OK) return;
    if (!use_tokenizer(tokenizer, text, NULL)) abort();
    ferry_tokenizer_destroy(tokenizer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ferry_arena arena = {0};
    ferry_bpe_codes codes;
    if (size == 0) return 0;
    const char *bytes = (const char *)data + 1, *end = memchr(bytes, 0, size - 1);
    const size_t codes_size = end != NULL ? (size_t)(end - bytes) : size - 1;
    const ferry_view file = {bytes, codes_size}, text = {bytes + codes_size, size - 1 - codes_size};
    if (ferry_bpe_codes_read(file, "input", true, &arena, &codes, NULL) == FERRY_OK) use(&codes, data[0], text, &arena);
    if (ferry_bpe_codes_read(file, "input", false, &arena, &codes, NULL) == FERRY_OK)
        use(&codes, data[0], text, &arena);
    ferry_arena_destroy(&arena);
    return 0;
}
