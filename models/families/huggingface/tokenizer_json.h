/* tokenizer.json, the file of Hugging Face's package `tokenizers`: everything between a text and ids in one file. What
 * Ferry does not do exactly as that package is refused by name. Private to the importers of Hugging Face's families. */
#ifndef FERRY_HUGGINGFACE_TOKENIZER_JSON_H
#define FERRY_HUGGINGFACE_TOKENIZER_JSON_H

#include "models/plan/plan.h"

/* Whether texts come from tokenizer.json: it is there, and the SentencePiece model `name` is not. */
bool ferry_import_uses_tokenizer_json(const ferry_import_plan *plan, const char *name);
/* Reads tokenizer.json into plan->text: one table of pieces for both sides, by the model's id
 * (plan->model.encoder.vocab_size of them); how a text is segmented and joined; prefix, suffix and special ids, as the
 * file has them. Errors: FORMAT, UNSUPPORTED, LIMIT, MEMORY; they name file, place, what was expected and found. */
ferry_status ferry_import_tokenizer_json(ferry_import_plan *plan, ferry_error *error);
/* The same for a plan that has the vocabulary, tags and frame of another system: pieces must agree, and the file's
 * template adds to the frame. Errors: FORMAT, too, where they differ. */
ferry_status ferry_import_fitting_tokenizer_json(ferry_import_plan *plan, ferry_error *error);
/* For a source that has both files: where tokenizer.json does not have the pieces of plan->text at their ids, the plan
 * gets a note. */
ferry_status ferry_import_compare_tokenizer_json(ferry_import_plan *plan, ferry_error *error);

/* ---- what its parts share ---- */

enum { FERRY_TOKENIZER_JSON_STEPS = 48 };

/* A value of the file, and its place in it: "normalizer.normalizers[1]". */
typedef struct ferry_json_place {
    const json_t *value;
    const char *file;
    ferry_name path;
} ferry_json_place;

typedef struct ferry_tokenizer_json {
    ferry_import_plan *plan;
    ferry_json_place root;
    ferry_view *pieces;  /* [piece_count] by id */
    int32_t piece_count; /* the model's rows */
    int32_t word_count;  /* ids 0 … word_count - 1 are of the vocabulary, and those behind them of added tokens */
    const ferry_texts *words; /* [word_count] */
    ferry_view steps[FERRY_TOKENIZER_JSON_STEPS];
    size_t step_count;
} ferry_tokenizer_json;

/* The value of `key`; NULL when it is absent or null. */
ferry_json_place ferry_json_place_get(const ferry_json_place *place, const char *key);
ferry_json_place ferry_json_place_at(const ferry_json_place *list, size_t index);
/* "FILE: 'PLACE': expected …, found …". */
ferry_status ferry_json_place_fail(const ferry_json_place *place, ferry_status code, const char *expected,
                                   ferry_error *error);
/* The text, flag or integer (in least … most) at a place, which is required. Errors: FORMAT. */
ferry_status ferry_json_place_text(const ferry_json_place *place, ferry_view *text, ferry_error *error);
ferry_status ferry_json_place_flag(const ferry_json_place *place, bool *flag, ferry_error *error);
ferry_status ferry_json_place_integer(const ferry_json_place *place, int32_t least, int32_t most, int32_t *value,
                                      ferry_error *error);
/* The same for the value of `key`, which keeps its default where it is absent. */
ferry_status ferry_json_place_flag_of(const ferry_json_place *place, const char *key, bool *flag, ferry_error *error);
/* Whether "type" is `name`. */
bool ferry_json_place_is(const ferry_json_place *place, const char *name);
/* Calls `each` for every part of a value: of a "Sequence" those in its list `key`, in order and at any depth; a value
 * of another type is its only part. */
typedef ferry_status ferry_json_part(ferry_tokenizer_json *json, const ferry_json_place *part, ferry_error *error);
ferry_status ferry_json_place_each(ferry_tokenizer_json *json, const ferry_json_place *place, const char *key,
                                   ferry_json_part *each, ferry_error *error);

/* ---- tokenizer_json.c: the file, for a plan that need not have a source ---- */

/* All of the file, into plan->text. */
ferry_status ferry_tokenizer_json_read(ferry_import_plan *plan, ferry_json file, ferry_tokenizer_json *json,
                                       ferry_error *error);

/* An empty table of pieces, and the file's version; added tokens, once the model has been read. */
ferry_status ferry_tokenizer_json_begin(ferry_import_plan *plan, ferry_json file, ferry_tokenizer_json *json,
                                        ferry_error *error);
ferry_status ferry_tokenizer_json_added(ferry_tokenizer_json *json, ferry_error *error);

ferry_status ferry_tokenizer_json_model(ferry_tokenizer_json *json, ferry_error *error);

/* ---- tokenizer_json_parts.c: "model"; "normalizer" and "pre_tokenizer"; "decoder" ---- */

ferry_status ferry_tokenizer_json_steps(ferry_tokenizer_json *json, ferry_error *error);
ferry_status ferry_tokenizer_json_decoder(ferry_tokenizer_json *json, ferry_error *error);

#endif
