/* What the importers' tests share: directories made from others, tensors edited, conversions and refusals. Failures are
 * cmocka's. */
#ifndef FERRY_SUPPORT_IMPORT_SUPPORT_H
#define FERRY_SUPPORT_IMPORT_SUPPORT_H

#include "files.h"

#include "models/convert.h"
#include "engine/file/model_file.h"

/* ---- directories made from others ---- */

/* In `file`, `from` becomes `to`; from NULL: the whole text; to NULL: the file is left out. */
typedef struct edit {
    const char *file, *from, *to;
} edit;

void apply_edit(const char *directory, const edit *change);
/* A scratch directory with links to the files of `source`, edited. */
char *variant(const char *source, const edit *edits, size_t count);

/* ---- tensors edited ---- */

typedef struct item {
    char name[96];
    ferry_tensor tensor; /* f32, or i64 */
} item;

typedef struct item_list {
    item items[800];
    size_t count;
} item_list;

/* Those of directory/model.safetensors. */
item_list *read_items(const char *directory);
item *find_item(item_list *list, const char *name);
item *add_item(item_list *list, const char *name, int64_t rows, int64_t columns, const void *data);
void remove_item(item_list *list, const char *name);
/* As f32, f16, bf16 (cut) or f64. */
void put_value(made_file *file, float value, ferry_type type);
/* Items first, first + step, … as directory/name, their numbers stored as `type`. */
void write_items(const item_list *list, const char *directory, const char *name, ferry_type type, size_t first,
                 size_t step);

/* ---- converting ---- */

/* The converted model, open until the program ends; converted to float32 without options. */
const ferry_model_file *converted_with(const char *source, const ferry_import_options *options);
const ferry_model_file *converted(const char *source);
/* What is noted when the source is converted; NULL: nothing. */
const char *note_of(const char *source);
/* convert_and_open, open until the program ends. */
const ferry_model *opened(const char *source);

/* The text's ids, kept. */
const int32_t *tokenized(const ferry_model *model, const char *text, const char *from, const char *to, size_t *count);
/* The piece's id, or -1. */
int32_t find_piece(const ferry_model *model, ferry_inspect_stack side, const char *piece);
/* Logits [T, V] of one sentence in one pass, kept; and the log-probability of a word in one of the rows. */
const float *logits_of(const ferry_model *model, const int32_t *ids, int32_t S, const int32_t *inputs, int32_t T);
double log_probability(const float *row, int32_t V, int32_t id);
/* Whether what Ferry says of the model contains `what`. */
bool described(const ferry_model *model, const char *what);
void check_result_text(const char *expected, ferry_text found);

/* Instead of a status: every one but FERRY_OK. */
#define ANY_ERROR ((ferry_status)-1)

/* `source` is refused with a message that contains `what`, and leaves no file. */
void refuse_source(const char *source, ferry_status status, const char *what);

/* The same for a variant of `source`. */
void refuse_edit(const char *source, const char *file, const char *from, const char *to, ferry_status status,
                 const char *what);

/* Keys of the model file without "ferry.", each with its value: "encoder.heads 4; eos_ids 0 4; output_bias false". A
 * list of texts has '|' between them; "absent" stands for a key that the file lacks. */
void check_file_keys(const ferry_model_file *file, const char *expected);
void check_gguf_keys(const ferry_gguf *file, const char *expected);

/* The same of what is converted from `source`; or "…" and a part of the message with which it is refused. */
void check_saying(const char *source, const char *says);

/* What is said of a variant. */
typedef struct saying {
    edit edits[6]; /* the first without a file ends them */
    const char *keys;
} saying;

void check_sayings(const char *source, const saying *rows, size_t count);

/* ---- languages, weights ---- */

/* The directory of a small model of the large golden data; the test ends here if there is none. */
char *small_family(const char *name);
/* The index of the language with exactly these names, which must exist. */
int32_t find_language(const ferry_model_languages *languages, const char *names);
bool is_special(const ferry_tokenizer_config *text, int32_t id);

void check_same_tensors(const ferry_model_file *a, const ferry_model_file *b);

#endif
