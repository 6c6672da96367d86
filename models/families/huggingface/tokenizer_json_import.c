/* Directories of which tokenizer.json is the tokenizer, or lies beside it. */
#include "tokenizer_json.h"

#include "base/utf8.h"
#include "huggingface.h"

static const char name[] = "tokenizer.json";

bool ferry_import_uses_tokenizer_json(const ferry_import_plan *plan, const char *model)
{
    return ferry_import_has_file(plan, name) && !ferry_import_has_file(plan, model);
}

/* Of transformers 5: it takes blanks before punctuation out of the texts of a Unigram model. */
static ferry_status check_clean_up(ferry_import_plan *plan, ferry_error *error)
{
    ferry_json config;
    bool cleans = false;
    FERRY_TRY(ferry_import_optional_json(plan, "tokenizer_config.json", &config, error));
    FERRY_TRY(ferry_json_bool(config, "clean_up_tokenization_spaces", &cleans, error));
    if (!cleans || plan->text.scores == NULL) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: 'clean_up_tokenization_spaces': expected false, found true",
                      config.file);
}

ferry_status ferry_import_tokenizer_json(ferry_import_plan *plan, ferry_error *error)
{
    ferry_tokenizer_json json;
    ferry_json file;
    const int32_t source = plan->model.encoder.vocab_size, target = plan->model.decoder.vocab_size;
    FERRY_TRY(ferry_import_json(plan, name, &file, error));
    if (source != target)
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                          "%s: expected one vocabulary for both sides, found embeddings of %d and %d words", file.file,
                          (int)source, (int)target);
    FERRY_TRY(ferry_tokenizer_json_read(plan, file, &json, error));
    FERRY_TRY(check_clean_up(plan, error));
    FERRY_TRY(ferry_import_check_rows(plan, file.file, json.word_count, json.piece_count, error));
    const int32_t more[] = {plan->generation.pad_id, plan->generation.start_id};
    FERRY_TRY(ferry_import_special(plan, plan->generation.eos_ids, plan->generation.eos_count, error));
    return ferry_import_special(plan, more, 2, error);
}

/* ---- for another system's vocabulary ---- */

ferry_status ferry_import_fitting_tokenizer_json(ferry_import_plan *plan, ferry_error *error)
{
    const ferry_model_text own = plan->text;
    ferry_model_text *text = &plan->text;
    text->suffix_ids = NULL;
    text->suffix_count = 0;
    FERRY_TRY(ferry_import_tokenizer_json(plan, error));
    /* Rows that the file does not know may have any name. */
    for (size_t id = 0; id < (size_t)text->source_count; id++) {
        const ferry_view piece = ferry_texts_at(text->source_pieces, id), word = ferry_texts_at(own.source_pieces, id);
        if (piece.size > 0 && !ferry_view_equal(piece, word))
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: id %zu is '%s', and '%s' in the vocabulary", name, id,
                              ferry_printable_view(piece).text, ferry_printable_view(word).text);
    }
    if (own.languages.target_tag == FERRY_TAG_FIRST)
        ferry_multilingual_template(text, own.languages.target_ids, own.languages.count, &text->languages.source_tag);
    return ferry_import_ids(plan, own.suffix_ids, own.suffix_count, &text->suffix_ids, &text->suffix_count, error);
}

/* ---- beside a SentencePiece model ---- */

/* Reads the pieces of the file, and nothing else of it. */
static ferry_status read_pieces(ferry_import_plan *plan, ferry_tokenizer_json *json, ferry_error *error)
{
    const ferry_model_text kept = plan->text;
    ferry_json file;
    FERRY_TRY(ferry_import_json(plan, name, &file, error));
    FERRY_TRY(ferry_tokenizer_json_begin(plan, file, json, error));
    ferry_status status = ferry_tokenizer_json_model(json, error);
    if (status == FERRY_OK) status = ferry_tokenizer_json_added(json, error);
    plan->text = kept;
    return status;
}

/* Ids whose text is written in another way, like languages, are no pieces of the SentencePiece model. */
static int32_t count_differences(const ferry_import_plan *plan, const ferry_view *pieces, int32_t *first)
{
    int32_t count = 0;
    for (int32_t id = plan->text.source_count - 1; id >= 0; id--) {
        const ferry_view piece = ferry_texts_at(plan->text.source_pieces, (size_t)id);
        if (piece.size == 0 || ferry_view_equal(piece, pieces[id])) continue;
        *first = id;
        count++;
    }
    return count;
}

ferry_status ferry_import_compare_tokenizer_json(ferry_import_plan *plan, ferry_error *error)
{
    ferry_tokenizer_json json;
    ferry_error found;
    int32_t first = 0;
    if (!ferry_import_has_file(plan, name)) return FERRY_OK;
    const char *model = plan->segmenter_files[0];
    const ferry_status status = read_pieces(plan, &json, &found);
    if (status == FERRY_ERROR_MEMORY) return ferry_fail(error, status, "%s", found.message);
    const int32_t count = status == FERRY_OK ? count_differences(plan, json.pieces, &first) : 0;
    if (status == FERRY_OK && count == 0) return FERRY_OK;
    const ferry_name note =
        status != FERRY_OK
            ? ferry_name_format("%s is used; %s", model, found.message)
            : ferry_name_format("%s is used; %s has other pieces at %d ids: id %d is '%s' there, and '%s' in %s", model,
                                json.root.file, (int)count, (int)first, ferry_printable_view(json.pieces[first]).text,
                                ferry_printable_view(ferry_texts_at(plan->text.source_pieces, (size_t)first)).text,
                                model);
    return ferry_import_note(plan, note, error);
}
