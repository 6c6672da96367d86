/* Finds a segmenter by its contents if the family found none by name. Checks by common pieces whether a vocabulary and
 * its segmenter are of one model. */
#include "segmenters.h"

#include <inttypes.h>
#include <string.h>

#include "tokenizer_json.h"
#include "tokenizer/sentencepiece_c.h"
#include "vocabularies.h"

enum { MAX_BYTES = 16 << 20 }; /* of a SentencePiece model: those with 256,000 pieces have 5 MB */

/* The marks that segmenters put on pieces, and the segmenter to expect. */
static const struct {
    const char *mark;
    bool begins, ends;
    const char *expected;
} marks[] = {
    {"\u2581", true, false, "a SentencePiece model or tokenizer.json"},
    {"@@", false, true, "tokenizer.json, or bpe.model with an Argos package's metadata.json"},
    {"</w>", false, true, "tokenizer.json"},
    {"\uffed", true, true, "OpenNMT's tokenizer (which Ferry lacks)"},
    {"\u0120", true, false, "byte-level pairs (which Ferry lacks)"},
};
enum { MARKS = sizeof marks / sizeof marks[0] };

/* For the vocabulary of one side. */
typedef struct search {
    const ferry_string_table *words; /* [count] */
    int32_t count, named;            /* named: words that are not empty */
    const char *file;                /* the file of the words; NULL: they are SentencePiece's own */
    size_t mark;
    int32_t marked;          /* number of words with the mark */
    const char *found;       /* the only file that fits */
    ferry_view bytes;        /* of the first file that has the words' pieces */
    int32_t fits;            /* number of different files that have them */
    ferry_short_text looked; /* for messages: each file that was examined, and its result */
} search;

/* Side 0, the source, or 1. */
static search side_of(const ferry_import_plan *plan, size_t i)
{
    const ferry_tokenizer_config *text = &plan->text;
    return i == 0 ? (search){text->source_pieces, text->source_count, .file = plan->vocabulary_files[0]}
                  : (search){text->target_pieces, text->target_count, .file = plan->vocabulary_files[1]};
}

/* Finds the most frequent mark. It must be on 5 % of the words, because unmarked words may begin or end with the same
 * characters (Maltese: Ġorġ); or it is SentencePiece's "▁", if that is a word itself. */
static bool find_mark(search *s)
{
    int32_t marked[MARKS] = {0};
    bool blank = false;
    for (size_t i = 0; i < (size_t)s->count; i++) {
        const ferry_view word = ferry_string_table_at(s->words, i);
        s->named += word.size > 0;
        blank |= ferry_view_is(word, marks[0].mark);
        for (size_t k = 0; k < MARKS; k++)
            marked[k] += (marks[k].begins && ferry_view_begins(word, marks[k].mark)) ||
                         (marks[k].ends && ferry_view_ends(word, marks[k].mark));
    }
    for (size_t k = 1; k < MARKS; k++)
        if (marked[k] > marked[s->mark]) s->mark = k;
    s->marked = marked[s->mark];
    return s->marked > 0 && (s->marked >= s->named / 20 || (blank && s->mark == 0));
}

/* Per cent. In the models of the tests whose files belong together, the vocabulary has all pieces, and at least 85 % of
 * its words are pieces. */
enum { EXPECTED_PIECES = 90, EXPECTED_WORDS = 75 };

static bool is_ordinary(const ferry_spm *spm, int32_t id)
{
    return ferry_spm_kind_of(spm, id) == FERRY_SPM_NORMAL;
}

/* Number of the SentencePiece model's pieces of text. */
static int32_t ordinary_pieces(const ferry_spm *spm)
{
    int32_t count = 0;
    for (int32_t i = 0; i < ferry_spm_count(spm); i++) count += is_ordinary(spm, i);
    return count;
}

/* Number of pieces of text that are words of the vocabulary [count]. */
static int32_t common_pieces(const ferry_spm *spm, const ferry_string_table *words, int32_t count)
{
    int32_t common = 0;
    for (size_t i = 0; i < (size_t)count; i++) {
        const ferry_view word = ferry_string_table_at(words, i);
        common += word.size > 0 && is_ordinary(spm, ferry_spm_find(spm, word));
    }
    return common;
}

static int32_t per_cent(int32_t part, int32_t whole)
{
    return whole > 0 ? (int32_t)((int64_t)part * 100 / whole) : 100;
}

/* Nearly all words are pieces of a joint model. If source and target share the words but have two models, fewer are
 * pieces of each. */
static void compare(search *s, const char *name, ferry_view bytes, const ferry_spm *spm)
{
    const int32_t common = common_pieces(spm, s->words, s->count);
    const int32_t pieces = per_cent(common, ordinary_pieces(spm)), known = per_cent(common, s->named);
    const bool fits = pieces >= EXPECTED_PIECES;
    if (fits && s->fits > 0 && ferry_view_equal(bytes, s->bytes)) return;
    s->looked = ferry_format("%s; %s: %d %% of the pieces are words, and %d %% of the words pieces", s->looked.text,
                             name, (int)pieces, (int)known);
    if (!fits) return;
    s->found = known >= EXPECTED_WORDS && s->fits == 0 ? name : NULL;
    s->bytes = bytes;
    s->fits++;
}

/* A serialized SentencePiece model begins with its first piece, field 1 of the message. */
static ferry_status look(ferry_import_plan *plan, search *s, const char *name, ferry_error *error)
{
    ferry_view bytes;
    ferry_spm *spm = NULL;
    ferry_error found;
    ferry_status status = ferry_source_look(plan->source, name, &bytes, &found);
    if (status == FERRY_OK && (bytes.size == 0 || bytes.size > MAX_BYTES || bytes.data[0] != '\n')) return FERRY_OK;
    if (status == FERRY_OK) status = ferry_import_open_spm(plan, bytes, name, &spm, &found);
    if (status == FERRY_OK) compare(s, name, bytes, spm);
    ferry_spm_destroy(spm);
    if (status == FERRY_ERROR_MEMORY) return ferry_fail(error, status, "%s", found.message);
    if (status != FERRY_OK) s->looked = ferry_format("%s; %s", s->looked.text, found.message);
    return FERRY_OK;
}

ferry_status ferry_import_find_segmenter(ferry_import_plan *plan, ferry_error *error)
{
    ferry_tokenizer_config *text = &plan->text;
    search sides[] = {side_of(plan, 0), side_of(plan, 1)};
    const bool two = sides[0].words != sides[1].words;
    if (ferry_import_tokenizer_kind(text) != FERRY_TOKENIZER_PIECES) return FERRY_OK;
    const bool source = find_mark(&sides[0]), target = find_mark(&sides[1]);
    const size_t marked = source ? 0 : 1;
    if (!source && !target) return FERRY_OK;
    for (size_t i = 0; i < plan->source->count && sides[marked].mark == 0; i++)
        for (int k = 0; k <= two; k++) FERRY_TRY(look(plan, &sides[k], plan->source->files[i].name, error));
    const char *used = sides[0].found, *other = sides[1].found;
    if (used != NULL) {
        FERRY_TRY(ferry_import_segmenters(plan, used, two && other == NULL ? "" : other, error));
        FERRY_TRY(ferry_import_ids(plan, &plan->closing_id, 1, &text->suffix_ids, &text->suffix_count, error));
    } else {
        /* No SentencePiece model fits: tries tokenizer.json. The error lists the files that were examined. */
        const search *m = &sides[marked];
        ferry_error found;
        const ferry_status status = ferry_import_fitting_tokenizer_json(plan, &found);
        if (status == FERRY_ERROR_MEMORY) return ferry_fail(error, status, "%s", found.message);
        if (status != FERRY_OK)
            return ferry_fail(
                error, FERRY_ERROR_UNSUPPORTED,
                "%s: %" PRId32 " of its %" PRId32 " words have the mark '%s': expected %s beside it%s%s; %s", m->file,
                m->marked, m->named, marks[m->mark].mark, marks[m->mark].expected, sides[0].looked.text,
                sides[0].fits > 1 ? "; name those of both sides source.spm and target.spm" : "", found.message);
        used = "tokenizer.json";
    }
    const ferry_short_text note = ferry_format("%s is used to divide texts: the vocabulary has its pieces", used);
    return ferry_import_note(plan, note, error);
}

/* ---- whether they are of one model ---- */

enum { MIN_PIECES = 50 }; /* per cent. A vocabulary with fewer of the pieces could translate nothing. */

enum { FEW_WORDS = 64 }; /* a smaller vocabulary is not checked */

static ferry_status check_side(const ferry_import_plan *plan, size_t i, const ferry_import_options *options,
                               ferry_error *error)
{
    const search s = side_of(plan, i);
    int32_t named = 0, known = 0; /* known: words that are pieces of one of the plan's SentencePiece models */
    for (size_t k = 0; k < (size_t)s.count; k++) {
        const ferry_view word = ferry_string_table_at(s.words, k);
        bool found = false;
        for (size_t m = 0; m < plan->segmenter_count && word.size > 0; m++)
            found = found || is_ordinary(plan->segmenters[m], ferry_spm_find(plan->segmenters[m], word));
        named += word.size > 0;
        known += found;
    }
    const int32_t pieces = ordinary_pieces(plan->segmenters[i]);
    const int32_t common = common_pieces(plan->segmenters[i], s.words, s.count);
    if (named < FEW_WORDS) return FERRY_OK;
    const bool related = per_cent(common, pieces) >= MIN_PIECES;
    ferry_error found;
    const ferry_status status =
        ferry_fail(&found, FERRY_ERROR_FORMAT,
                   "%s: of its %" PRId32 " pieces, %" PRId32 " are among the %" PRId32 " words of %s: %s",
                   plan->segmenter_files[i], pieces, common, named, s.file,
                   related ? "do they belong together?" : "one of the two is another model's");
    if (!related) return ferry_fail(error, status, "%s", found.message);
    const bool usual = per_cent(common, pieces) >= EXPECTED_PIECES && per_cent(known, named) >= EXPECTED_WORDS;
    if (!usual && options->noted != NULL) options->noted(options->user, found.message);
    return FERRY_OK;
}

/* FORMAT if each SentencePiece model has more in common with the other side's vocabulary. */
static ferry_status check_swapped(const ferry_import_plan *plan, ferry_error *error)
{
    int32_t common[2][2];
    for (size_t i = 0; i < 2; i++) {
        const search s = side_of(plan, i);
        for (size_t k = 0; k < 2; k++) common[k][i] = common_pieces(plan->segmenters[k], s.words, s.count);
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
