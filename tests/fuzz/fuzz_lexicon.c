/* Any bytes as a shortlist of both kinds: refused, or lists of ids that exist, ascending. The first byte says how many
 * source pieces there are, so that binary files can fit; the checksum is made right, or none would. */
#include "fuzz.h"

#include "models/containers/lexicon.h"
#include "base/memory.h"

enum { PIECES = 8 };

static void check(const ferry_lexicon *lexicon, int32_t targets)
{
    if (lexicon->first < 0 || lexicon->first > targets || lexicon->offsets[0] != 0) abort();
    for (int32_t s = 0; s < lexicon->source_count; s++) {
        for (uint32_t i = lexicon->offsets[s]; i < lexicon->offsets[s + 1]; i++) {
            if (lexicon->ids[i] < 0 || lexicon->ids[i] >= targets) abort();
            if (i > lexicon->offsets[s] && lexicon->ids[i] <= lexicon->ids[i - 1]) abort();
        }
    }
}

static void mend_checksum(uint8_t *file, size_t size)
{
    uint64_t sum = 0, word;
    for (size_t at = 16; at + 8 <= size; at += 8) {
        memcpy(&word, file + at, 8); /* fuzzing runs on little-endian machines */
        sum ^= word + 0x9e3779b9u + (sum << 6) + (sum >> 2);
    }
    if (size >= 16) memcpy(file + 8, &sum, 8);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const ferry_view pieces[PIECES] = {{"</s>", 4}, {"<unk>", 5}, {"a", 1}, {"b", 1},
                                              {"", 0},     {"c", 1},     {"d", 1}, {"e", 1}};
    ferry_arena arena = {0};
    ferry_lexicon lexicon;
    ferry_error error;
    if (size == 0) return 0;
    const int32_t sources = data[0] % (PIECES + 1);
    uint8_t *file = malloc(size);
    if (file == NULL) return 0;
    memcpy(file, data + 1, size - 1);
    const ferry_view bytes = {(const char *)file, size - 1};
    const ferry_lexicon_words words = {join(pieces, PIECES, &arena), PIECES, 1};
    if (ferry_lexicon_read_text(bytes, "input", &words, &words, &arena, &lexicon, &error) == FERRY_OK)
        check(&lexicon, PIECES);
    mend_checksum(file, size - 1);
    if (ferry_lexicon_read(bytes, "input", sources, PIECES, &arena, &lexicon, &error) == FERRY_OK)
        check(&lexicon, PIECES);
    ferry_arena_destroy(&arena);
    free(file);
    return 0;
}
