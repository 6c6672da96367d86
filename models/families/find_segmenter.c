/* The segmenter of a vocabulary for which its family found none by name. */
#include <inttypes.h>
#include <string.h>

#include "models/families/huggingface/tokenizer_json.h"
#include "models/plan/plan.h"
#include "tokenizer/sentencepiece_c.h"

enum { MOST_BYTES = 16 << 20 }; /* of a SentencePiece model: those with 256,000 pieces have 5 MB */

/* What segmenters mark pieces with, and where a source has such a segmenter. */
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
    const ferry_texts *words; /* [count] */
    int32_t count, named;     /* of them: words that are not empty */
    size_t mark;
    int32_t marked;    /* words that have it */
    const char *found; /* the only file that fits */
    ferry_view bytes;  /* the first that has the words' pieces */
    int32_t fits;      /* how many have them, and differ */
    ferry_name looked; /* what was looked at, and what it lacks */
} search;

static bool has_mark(ferry_view word, size_t k)
{
    const size_t size = strlen(marks[k].mark);
    return word.size >= size && ((marks[k].begins && memcmp(word.data, marks[k].mark, size) == 0) ||
                                 (marks[k].ends && memcmp(word.data + word.size - size, marks[k].mark, size) == 0));
}

/* The most frequent mark, if it is one: a few words of a list may begin or end so, too (Maltese: Ġorġ). SentencePiece
 * has "▁" even where all its other pieces are characters. */
static bool find_mark(search *s)
{
    int32_t marked[MARKS] = {0};
    bool blank = false;
    for (size_t i = 0; i < (size_t)s->count; i++) {
        const ferry_view word = ferry_texts_at(s->words, i);
        s->named += word.size > 0;
        blank |= ferry_view_is(word, marks[0].mark);
        for (size_t k = 0; k < MARKS; k++) marked[k] += has_mark(word, k);
    }
    for (size_t k = 1; k < MARKS; k++)
        if (marked[k] > marked[s->mark]) s->mark = k;
    s->marked = marked[s->mark];
    return s->marked > 0 && (s->marked >= s->named / 20 || (blank && s->mark == 0));
}

/* Of a joint model nearly all words are pieces; of one of two, for a source and a target that share the words, not. */
static void compare(search *s, const char *name, ferry_view bytes, const ferry_spm *spm)
{
    const int32_t common = ferry_import_common_pieces(spm, s->words, s->count);
    const int32_t pieces = ferry_import_per_cent(common, ferry_import_ordinary_pieces(spm)),
                  known = ferry_import_per_cent(common, s->named);
    const bool fits = pieces >= FERRY_IMPORT_USUAL_PIECES;
    if (fits && s->fits > 0 && ferry_view_equal(bytes, s->bytes)) return;
    s->looked = ferry_name_format("%s; %s: %d %% of the pieces are words, and %d %% of the words pieces",
                                  s->looked.text, name, (int)pieces, (int)known);
    if (!fits) return;
    s->found = known >= FERRY_IMPORT_USUAL_WORDS && s->fits == 0 ? name : NULL;
    s->bytes = bytes;
    s->fits++;
}

/* A serialized SentencePiece model begins with its first piece, field 1 of the message. */
static ferry_status look(ferry_import_plan *plan, search *s, const char *name, ferry_error *error)
{
    ferry_view bytes;
    ferry_spm *spm = NULL;
    ferry_error found;
    ferry_status status = ferry_import_source_look(plan->source, name, &bytes, &found);
    if (status == FERRY_OK && (bytes.size == 0 || bytes.size > MOST_BYTES || bytes.data[0] != '\n')) return FERRY_OK;
    if (status == FERRY_OK) status = ferry_import_open_spm(plan, bytes, name, &spm, &found);
    if (status == FERRY_OK) compare(s, name, bytes, spm);
    ferry_spm_destroy(spm);
    if (status == FERRY_ERROR_MEMORY) return ferry_fail(error, status, "%s", found.message);
    if (status != FERRY_OK) s->looked = ferry_name_format("%s; %s", s->looked.text, found.message);
    return FERRY_OK;
}

/* tokenizer.json, where no SentencePiece model fits; or what was looked at in vain for the mark of side `marked`. */
static ferry_status use_tokenizer_json(ferry_import_plan *plan, const search *sides, size_t marked, ferry_error *error)
{
    const search *m = &sides[marked];
    ferry_error found;
    const ferry_status status = ferry_import_fitting_tokenizer_json(plan, &found);
    if (status == FERRY_OK) return FERRY_OK;
    if (status == FERRY_ERROR_MEMORY) return ferry_fail(error, status, "%s", found.message);
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                      "%s: %" PRId32 " of its %" PRId32 " words have the mark '%s': expected %s beside it%s%s; %s",
                      plan->vocabulary_files[marked], m->marked, m->named, marks[m->mark].mark, marks[m->mark].expected,
                      sides[0].looked.text,
                      sides[0].fits > 1 ? "; name those of both sides source.spm and target.spm" : "", found.message);
}

ferry_status ferry_import_find_segmenter(ferry_import_plan *plan, ferry_error *error)
{
    ferry_model_text *text = &plan->text;
    search sides[] = {{.words = text->source_pieces, .count = text->source_count},
                      {.words = text->target_pieces, .count = text->target_count}};
    const bool two = sides[0].words != sides[1].words;
    if (ferry_import_tokenizer_kind(text) != FERRY_TOKENIZER_PIECES) return FERRY_OK;
    const bool source = find_mark(&sides[0]), target = find_mark(&sides[1]);
    const size_t marked = source ? 0 : 1;
    if (!source && !target) return FERRY_OK;
    for (size_t i = 0; i < ferry_import_source_count(plan->source) && sides[marked].mark == 0; i++)
        for (int k = 0; k <= two; k++)
            FERRY_TRY(look(plan, &sides[k], ferry_import_source_name(plan->source, i), error));
    const char *used = sides[0].found, *other = sides[1].found;
    if (used != NULL) {
        FERRY_TRY(ferry_import_segmenters(plan, used, two && other == NULL ? "" : other, error));
        FERRY_TRY(ferry_import_ids(plan, &plan->closing_id, 1, &text->suffix_ids, &text->suffix_count, error));
    } else {
        FERRY_TRY(use_tokenizer_json(plan, sides, marked, error));
        used = "tokenizer.json";
    }
    const ferry_name note = ferry_name_format("%s is used to divide texts: the vocabulary has its pieces", used);
    return ferry_import_note(plan, note, error);
}
