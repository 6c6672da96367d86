/* Vocabularies and what follows from them: special ids, ids that are never generated, languages, the shortlist. */
#include <inttypes.h>
#include <string.h>

#include "models/containers/lexicon.h"
#include "models/containers/vocabulary_files.h"
#include "marian.h"
#include "models/plan/plan_tensors.h"
#include "models/text/language_tags.h"
#include "models/text/vocabularies.h"
#include "models/families/families.h"

/* The vocabulary of one side, and its special ids. */
typedef struct side {
    const ferry_string_table *pieces; /* [count] */
    int32_t count;
    int32_t eos, unk;
} side;

static ferry_view piece_of(const side *words, int32_t id)
{
    return ferry_string_table_at(words->pieces, (size_t)id);
}

static int32_t find_piece(const side *words, const char *piece)
{
    for (int32_t i = 0; i < words->count; i++)
        if (ferry_view_is(piece_of(words, i), piece)) return i;
    return -1;
}

/* ---- vocabularies ---- */

/* For words->count words. */
static ferry_status read_mapping(ferry_import_plan *plan, const char *name, side *words, ferry_error *error)
{
    const bool is_mapping =
        ferry_text_ends(name, ".yml") || ferry_text_ends(name, ".yaml") || ferry_text_ends(name, ".json");
    const char *label = ferry_source_label(plan->source, name);
    const int32_t count = words->count;
    const ferry_view *pieces;
    int32_t found;
    ferry_view text, *table;
    FERRY_TRY(ferry_source_map(plan->source, name, &text, error));
    FERRY_TRY(is_mapping ? ferry_yaml_vocabulary(text, label, &plan->arena, &pieces, &found, error)
                         : ferry_lines_vocabulary(text, label, &plan->arena, &pieces, &found, error));
    FERRY_TRY(ferry_import_check_rows(plan, label, found, count, error));
    /* Rows past the last entry have no name. */
    FERRY_TRY(ferry_import_pieces(plan, count, &table, error));
    memcpy(table, pieces, (size_t)(found < count ? found : count) * sizeof *table);
    FERRY_TRY(ferry_string_table_join(&plan->arena, table, (size_t)count, &words->pieces, error));
    words->eos = find_piece(words, "</s>");
    words->unk = find_piece(words, "<unk>");
    if (!is_mapping) return FERRY_OK;
    /* Old vocabularies call them "eos" and "UNK", or keep ids 0 and 1 free for them. */
    if (count > 0 && (piece_of(words, 0).size == 0 || ferry_view_is(piece_of(words, 0), "eos"))) words->eos = 0;
    if (count > 1 && (piece_of(words, 1).size == 0 || ferry_view_is(piece_of(words, 1), "UNK"))) words->unk = 1;
    return FERRY_OK;
}

static ferry_status check_side(const ferry_import_plan *plan, const char *name, const side *words, ferry_error *error)
{
    if (words->eos >= 0 && words->unk >= 0) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: the vocabulary has no '%s'",
                      ferry_source_label(plan->source, name), words->eos < 0 ? "</s>" : "<unk>");
}

/* The source's and the target's. */
static ferry_status read_sides(ferry_import_plan *plan, const ferry_marian *marian, side sides[2], ferry_error *error)
{
    const char *const *names = marian->vocabularies;
    const int32_t counts[] = {plan->model.encoder.vocab_size, plan->model.decoder.vocab_size};
    const bool one_file = strcmp(names[0], names[1]) == 0, shared = one_file && counts[0] == counts[1];
    const bool spm = ferry_text_ends(names[0], ".spm");
    if (spm != ferry_text_ends(names[1], ".spm")) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: vocabularies of two kinds: '%s', '%s'",
                          plan->source->path, names[0], names[1]);
    }
    if (spm) FERRY_TRY(ferry_import_segmenters(plan, names[0], one_file ? NULL : names[1], error));
    for (size_t i = 0; i < 2; i++) {
        side *words = &sides[i];
        words->count = counts[i];
        if (!spm) plan->vocabulary_files[i] = ferry_source_label(plan->source, names[i]);
        if (i == 1 && shared)
            *words = sides[0];
        else if (!spm)
            FERRY_TRY(read_mapping(plan, names[i], words, error));
        else
            FERRY_TRY(ferry_import_own_vocabulary(plan, i, counts[i], &words->pieces, &words->unk, error));
        if (spm) words->eos = find_piece(words, "</s>");
    }
    FERRY_TRY(check_side(plan, names[0], &sides[0], error));
    const bool opus = strcmp(names[0], "source.spm") == 0 || strcmp(names[1], "target.spm") == 0;
    if (marian->guessed && (opus || sides[0].eos != 0))
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                          "%s: a SentencePiece model that only divides texts: the vocabulary with the ids (vocab.yml, "
                          "or vocab….spm) is missing",
                          ferry_source_label(plan->source, names[0]));
    return check_side(plan, names[1], &sides[1], error);
}

/* ---- preprocess.sh ---- */

/* Scripts of all generations either call Moses' replace-unicode-punctuation or spell its rules out. */
static ferry_status read_script(ferry_import_plan *plan, ferry_error *error)
{
    static const char name[] = "preprocess.sh", full_width_comma[] = "\xef\xbc\x8c";
    static const char *const steps[] = {"apply_bpe", "apply-bpe", "normalize-punctuation.perl", "tokenizer.perl",
                                        "truecase.perl"};
    ferry_view script;
    if (!ferry_source_has(plan->source, name)) return FERRY_OK;
    FERRY_TRY(ferry_source_map(plan->source, name, &script, error));
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        if (!ferry_view_contains(script, steps[i])) continue;
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: texts prepared by '%s' are not supported",
                          ferry_source_label(plan->source, name), steps[i]);
    }
    plan->text.opus_punctuation =
        ferry_view_contains(script, "replace-unicode-punctuation") || ferry_view_contains(script, full_width_comma);
    return FERRY_OK;
}

/* ---- ids ---- */

/* "<0x00>" … "<0x1F>" */
static bool is_control_byte(ferry_view piece)
{
    if (piece.size != 6 || memcmp(piece.data, "<0x", 3) != 0 || piece.data[5] != '>') return false;
    return (piece.data[3] == '0' || piece.data[3] == '1') && strchr("0123456789ABCDEF", piece.data[4]) != NULL;
}

/* Marian never generates unk, nor since 1.11 control characters; ids without a piece have no text. */
static ferry_status suppress(ferry_import_plan *plan, const ferry_marian *marian, const side *target,
                             ferry_error *error)
{
    bool unk = false, special = false;
    FERRY_TRY(ferry_json_bool(marian->decoder, "allow-unk", &unk, error));
    FERRY_TRY(ferry_json_bool(marian->decoder, "allow-special", &special, error));
    const bool bytes = special || !ferry_marian_since(marian, 1, 11, 0);
    int32_t *ids = ferry_arena_alloc(&plan->arena, (size_t)target->count, sizeof *ids), count = 0;
    if (ids == NULL) return ferry_fail_memory(error, "a list of ids", (size_t)target->count, sizeof *ids);
    for (int32_t i = 0; i < target->count; i++) {
        const ferry_view piece = piece_of(target, i);
        const bool unnamed = piece.size == 0 && i != target->eos && i != target->unk;
        if (unnamed || (i == target->unk && !unk) || (!bytes && is_control_byte(piece))) ids[count++] = i;
    }
    plan->generation.decoding.search.suppressed_ids = ids;
    plan->generation.decoding.search.suppressed_count = (size_t)count;
    return FERRY_OK;
}

/* ---- the shortlist ---- */

static ferry_status add_shortlist(ferry_import_plan *plan, const ferry_marian *marian, const side *source,
                                  const side *target, ferry_error *error)
{
    static const int64_t known[] = {100, 100, 0};
    const ferry_lexicon_words from = {source->pieces, source->count, source->unk};
    const ferry_lexicon_words to = {target->pieces, target->count, target->unk};
    ferry_lexicon lexicon;
    ferry_view bytes;
    if (marian->lexicon == NULL) return FERRY_OK;
    const char *label = ferry_source_label(plan->source, marian->lexicon);
    FERRY_TRY(ferry_source_map(plan->source, marian->lexicon, &bytes, error));
    const bool binary = ferry_is_binary_lexicon(bytes) || ferry_text_ends(marian->lexicon, ".bin");
    /* decoder.yml: [file, first, best, threshold], or [file, false] of a binary file, which has these numbers itself.
     */
    const json_t *listed = ferry_json_get(marian->decoder, "shortlist");
    for (size_t i = 1; !binary && i < ferry_json_text_count(listed) && i < 4; i++) {
        const ferry_view text = ferry_text_view(ferry_json_text_at(listed, i));
        double number;
        if (ferry_parse_decimal(text, &number) && number == (double)known[i - 1]) continue;
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                          "%s: 'shortlist': expected the numbers 100, 100 and 0 of a text file, found '%s'",
                          marian->decoder.file, ferry_printable_view(text).text);
    }
    FERRY_TRY(binary ? ferry_lexicon_read(bytes, label, source->count, target->count, &plan->arena, &lexicon, error)
                     : ferry_lexicon_read_text(bytes, label, &from, &to, &plan->arena, &lexicon, error));
    const uint32_t words = lexicon.offsets[source->count];
    if (words == 0 || words > INT32_MAX)
        return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: %" PRIu32 " words are no shortlist", label, words);
    plan->generation.shortlist.first = lexicon.first;
    plan->generation.shortlist.shared = strcmp(marian->vocabularies[0], marian->vocabularies[1]) == 0;
    ferry_import_tensor tensor = {.form = FERRY_IMPORT_INTEGERS, .N = source->count + 1, .K = 1};
    tensor.integers = (const int32_t *)lexicon.offsets;
    FERRY_TRY(ferry_import_add_tensor(plan, &tensor, error, "shortlist.offsets"));
    tensor.N = (int32_t)words;
    tensor.integers = lexicon.ids;
    return ferry_import_add_tensor(plan, &tensor, error, "shortlist.ids");
}

ferry_status ferry_marian_text(ferry_import_plan *plan, const ferry_marian *marian, ferry_error *error)
{
    const char *const *only = marian->segmenters; /* SentencePiece models that only segment */
    ferry_tokenizer_config *text = &plan->text;
    side sides[2];
    FERRY_TRY(read_sides(plan, marian, sides, error));
    const side source = sides[0], target = sides[1];
    if (only[0] != NULL) FERRY_TRY(ferry_import_segmenters(plan, only[0], only[1] != NULL ? only[1] : "", error));
    FERRY_TRY(read_script(plan, error));
    text->present = true;
    text->source_pieces = source.pieces;
    text->source_count = source.count;
    text->target_pieces = target.pieces;
    text->target_count = target.count;
    text->source_unk_id = source.unk;
    FERRY_TRY(ferry_import_ids(plan, &source.eos, 1, &text->suffix_ids, &text->suffix_count, error));
    FERRY_TRY(ferry_import_ids(plan, &target.eos, 1, &text->special_ids, &text->special_count, error));
    FERRY_TRY(ferry_import_ids(plan, &target.eos, 1, &plan->generation.eos_ids, &plan->generation.eos_count, error));
    FERRY_TRY(suppress(plan, marian, &target, error));
    /* ">>fra<<" in a mapping names a target language; the tag precedes a line and is not segmented. */
    if (!ferry_text_ends(marian->vocabularies[0], ".spm"))
        FERRY_TRY(ferry_import_tag_pieces(plan, source.pieces, source.count, &text->leading_tag, error));
    if (!text->leading_tag) FERRY_TRY(ferry_marian_language_pair(plan, marian, error));
    return add_shortlist(plan, marian, &source, &target, error);
}
