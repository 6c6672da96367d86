/* tokenizer.json, the file of Hugging Face's package `tokenizers`: everything between a text and ids in one file. What
 * Ferry does not do exactly as that package is refused by name. Private to the importers of Hugging Face's families. */
#ifndef FERRY_HUGGINGFACE_TOKENIZER_JSON_H
#define FERRY_HUGGINGFACE_TOKENIZER_JSON_H

#include "models/plan/plan.h"

/* Whether texts come from tokenizer.json: it is there, and the SentencePiece model `name` is not. */
bool ferry_import_uses_tokenizer_json(const ferry_import_plan *plan, const char *name);
/* Reads tokenizer.json into plan->text: the table of pieces by the model's id (plan->model.encoder.vocab_size of them,
 * one vocabulary for both sides), how a text is segmented and joined, prefix and suffix ids (unless `languages`: the
 * tags around a line are the family's to say, and the template has the ids of one language only), special ids.
 * Errors: FORMAT, UNSUPPORTED, LIMIT, MEMORY; they name file, place, what was expected and found. */
ferry_status ferry_import_tokenizer_json(ferry_import_plan *plan, bool languages, ferry_error *error);
/* Where a source has both files and they do not give the same pieces the same ids: says so in one note. */
ferry_status ferry_import_compare_tokenizer_json(ferry_import_plan *plan, ferry_error *error);

#endif
