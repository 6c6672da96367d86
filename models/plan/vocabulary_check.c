/* Whether the files that make texts into ids are of one model: their sizes, and what they have in common. */
#include <inttypes.h>

#include "plan.h"
#include "tokenizer/sentencepiece_c.h"

/* Rows without a word that every family has: language tags (NLLB's 202), T5's 100 extra ids, sizes rounded up. */
enum { SPARE_ROWS = 256, SPARE_SHARE = 16 };

enum { LEAST_PIECES = 50 }; /* per cent. Where the vocabulary lacks most of them, nothing could be translated. */

enum { FEW_WORDS = 64 }; /* of a vocabulary, from which nothing follows */

ferry_status ferry_import_check_rows(const ferry_import_plan *plan, const char *file, int32_t words, int32_t rows,
                                     ferry_error *error)
{
    const char *weights = plan->shard_count == 0 && plan->weights.count > 0 ? plan->weights.entries[0].file
                                                                            : ferry_import_source_path(plan->source);
    if (words <= rows && rows - words <= SPARE_ROWS + rows / SPARE_SHARE) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT,
                      "%s: %" PRId32 " words for the %" PRId32 " rows of embeddings in %s: it is another model's", file,
                      words, rows, weights);
}

static bool is_ordinary(const ferry_spm *spm, int32_t id)
{
    return ferry_spm_kind_of(spm, id) == FERRY_SPM_NORMAL;
}

int32_t ferry_import_ordinary_pieces(const ferry_spm *spm)
{
    int32_t count = 0;
    for (int32_t i = 0; i < ferry_spm_count(spm); i++) count += is_ordinary(spm, i);
    return count;
}

int32_t ferry_import_common_pieces(const ferry_spm *spm, const ferry_texts *words, int32_t count)
{
    int32_t common = 0;
    for (size_t i = 0; i < (size_t)count; i++) {
        const ferry_view word = ferry_texts_at(words, i);
        common += word.size > 0 && is_ordinary(spm, ferry_spm_find(spm, word));
    }
    return common;
}

int32_t ferry_import_per_cent(int32_t part, int32_t whole)
{
    return whole > 0 ? (int32_t)((int64_t)part * 100 / whole) : 100;
}

/* The words of side 0, the source, or 1, and the file that they are from; NULL: they are SentencePiece's own. */
typedef struct side {
    const ferry_texts *words;
    int32_t count;
    const char *file;
} side;

static side side_of(const ferry_import_plan *plan, size_t i)
{
    const ferry_model_text *text = &plan->text;
    return i == 0 ? (side){text->source_pieces, text->source_count, plan->vocabulary_files[0]}
                  : (side){text->target_pieces, text->target_count, plan->vocabulary_files[1]};
}

/* Words that one of the plan's SentencePiece models knows, of those that are not empty. */
static int32_t known_words(const ferry_import_plan *plan, const side *s, int32_t *named)
{
    int32_t known = 0;
    *named = 0;
    for (size_t i = 0; i < (size_t)s->count; i++) {
        const ferry_view word = ferry_texts_at(s->words, i);
        bool found = false;
        for (size_t k = 0; k < plan->segmenter_count && word.size > 0; k++)
            found = found || is_ordinary(plan->segmenters[k], ferry_spm_find(plan->segmenters[k], word));
        *named += word.size > 0;
        known += found;
    }
    return known;
}

static ferry_status check_side(const ferry_import_plan *plan, size_t i, const ferry_import_options *options,
                               ferry_error *error)
{
    const side s = side_of(plan, i);
    int32_t named;
    const int32_t pieces = ferry_import_ordinary_pieces(plan->segmenters[i]), known = known_words(plan, &s, &named);
    const int32_t common = ferry_import_common_pieces(plan->segmenters[i], s.words, s.count);
    if (named < FEW_WORDS) return FERRY_OK;
    const bool related = ferry_import_per_cent(common, pieces) >= LEAST_PIECES;
    ferry_error found;
    const ferry_status status =
        ferry_fail(&found, FERRY_ERROR_FORMAT,
                   "%s: of its %" PRId32 " pieces, %" PRId32 " are among the %" PRId32 " words of %s: %s",
                   plan->segmenter_files[i], pieces, common, named, s.file,
                   related ? "do they belong together?" : "one of the two is another model's");
    if (!related) return ferry_fail(error, status, "%s", found.message);
    const bool usual = ferry_import_per_cent(common, pieces) >= FERRY_IMPORT_USUAL_PIECES &&
                       ferry_import_per_cent(known, named) >= FERRY_IMPORT_USUAL_WORDS;
    if (!usual && options->noted != NULL) options->noted(options->user, found.message);
    return FERRY_OK;
}

/* With two vocabularies: whether each SentencePiece model has more in common with the other's. */
static ferry_status check_swapped(const ferry_import_plan *plan, ferry_error *error)
{
    int32_t common[2][2];
    for (size_t i = 0; i < 2; i++) {
        const side s = side_of(plan, i);
        for (size_t k = 0; k < 2; k++) common[k][i] = ferry_import_common_pieces(plan->segmenters[k], s.words, s.count);
    }
    if (common[0][1] <= common[0][0] || common[1][0] <= common[1][1]) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT,
                      "%s and %s: each has more pieces in common with the other side's vocabulary: they are swapped",
                      plan->segmenter_files[0], plan->segmenter_files[1]);
}

ferry_status ferry_import_check_vocabularies(const ferry_import_plan *plan, const ferry_import_options *options,
                                             ferry_error *error)
{
    const bool two = plan->segmenter_count == 2;
    if (two && plan->text.source_pieces != plan->text.target_pieces) FERRY_TRY(check_swapped(plan, error));
    for (size_t i = 0; i < plan->segmenter_count; i++)
        if (plan->vocabulary_files[i] != NULL) FERRY_TRY(check_side(plan, i, options, error));
    return FERRY_OK;
}
