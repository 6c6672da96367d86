/* tokenizer.json, the file of Hugging Face's package `tokenizers`: all steps between a text and ids. Steps that Ferry
 * cannot do exactly like that package are refused by name. */
#ifndef FERRY_TEXT_TOKENIZER_JSON_H
#define FERRY_TEXT_TOKENIZER_JSON_H

#include "models/plan/plan.h"

/* Whether texts come from tokenizer.json: it is there, and the SentencePiece model `name` is not. */
bool ferry_import_uses_tokenizer_json(const ferry_import_plan *plan, const char *name);
/* Reads tokenizer.json into plan->text: one table of pieces for both sides, by the model's id
 * (plan->model.encoder.vocab_size of them); how a text is segmented and joined; prefix, suffix and special ids, as the
 * file has them. Errors: FORMAT, UNSUPPORTED, LIMIT, MEMORY; they name the file, the position in it, what was expected
 * and found. */
ferry_status ferry_import_tokenizer_json(ferry_import_plan *plan, ferry_error *error);
/* The same for a plan that has the vocabulary, tags and frame of another system: pieces must agree, and the file's
 * template adds to the frame. Errors: FORMAT, too, where they differ. */
ferry_status ferry_import_fitting_tokenizer_json(ferry_import_plan *plan, ferry_error *error);
/* For a source with both files: the plan gets a note if tokenizer.json has other pieces than plan->text at some ids. */
ferry_status ferry_import_compare_tokenizer_json(ferry_import_plan *plan, ferry_error *error);

/* Takes the tag of one of the languages [count] out of the frame that tokenizer.json's template made of a line;
 * *position becomes where it was. */
void ferry_tokenizer_json_take_tag(ferry_tokenizer_config *text, const int32_t *languages, int32_t count,
                                   ferry_tag_position *position);

/* ---- what its parts share ---- */

enum { FERRY_TOKENIZER_JSON_STEPS = 48, FERRY_TOKENIZER_JSON_ADDED = 1 << 13 /* tokens */ };

/* A value of the file, and its position in it: "normalizer.normalizers[1]". */
typedef struct ferry_json_node {
    const json_t *value;
    const char *file;
    ferry_error *error; /* for what is wrong with the value */
    ferry_short_text path;
} ferry_json_node;

typedef struct ferry_tokenizer_json {
    ferry_import_plan *plan;
    ferry_error *error;
    ferry_json_node root;
    ferry_view *pieces;  /* [piece_count] by id */
    int32_t piece_count; /* the model's rows */
    int32_t word_count;  /* ids 0 … word_count - 1 are of the vocabulary; those after them, of added tokens */
    const ferry_string_table *words; /* [word_count] */
    ferry_view steps[FERRY_TOKENIZER_JSON_STEPS];
    size_t step_count;
} ferry_tokenizer_json;

/* The value of `key`; NULL when it is absent or null. */
ferry_json_node ferry_node_get(const ferry_json_node *node, const char *key);
ferry_json_node ferry_node_at(const ferry_json_node *list, size_t index);
/* "FILE: 'POSITION': expected …, found …". */
ferry_status ferry_node_fail(const ferry_json_node *node, ferry_status code, const char *expected);
/* The text, flag or integer (in min … max) of a node, which is required. Errors: FORMAT. */
ferry_status ferry_node_text(const ferry_json_node *node, ferry_view *text);
ferry_status ferry_node_flag(const ferry_json_node *node, bool *flag);
ferry_status ferry_node_integer(const ferry_json_node *node, int32_t min, int32_t max, int32_t *value);
/* The same for the value of `key`; a flag keeps its default where it is absent. */
ferry_status ferry_node_text_of(const ferry_json_node *node, const char *key, ferry_view *text);
ferry_status ferry_node_flag_of(const ferry_json_node *node, const char *key, bool *flag);
/* Whether "type" is `name`. */
bool ferry_node_is(const ferry_json_node *node, const char *name);

/* ---- tokenizer_json.c: the file, for a plan that need not have a source ---- */

/* All of the file, into plan->text. */
ferry_status ferry_tokenizer_json_read(ferry_import_plan *plan, ferry_json file, ferry_tokenizer_json *json,
                                       ferry_error *error);

/* ---- tokenizer_json_parts.c: "model"; "normalizer" and "pre_tokenizer"; "decoder" ---- */

ferry_status ferry_tokenizer_json_model(ferry_tokenizer_json *json);
ferry_status ferry_tokenizer_json_steps(ferry_tokenizer_json *json);
ferry_status ferry_tokenizer_json_decoder(ferry_tokenizer_json *json);

#endif
