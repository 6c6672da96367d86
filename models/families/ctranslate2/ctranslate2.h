/* CTranslate2's model directories, for their importer alone: what its files share. */
#ifndef FERRY_CTRANSLATE2_CTRANSLATE2_H
#define FERRY_CTRANSLATE2_CTRANSLATE2_H

#include "models/plan/plan.h"

enum { FERRY_CTRANSLATE2_CONFIG = 6 }; /* the first version of model.bin that needs config.json */

/* A list of tokens, the unknown token at its end where the file lacks it. */
typedef struct ferry_ct2_vocabulary {
    ferry_view *tokens; /* [count] */
    int32_t count;
    const char *file;
} ferry_ct2_vocabulary;

typedef struct ferry_ctranslate2 {
    ferry_import_plan *plan;
    const char *folder; /* "", or "model/" in an Argos package */
    const char *file;   /* model.bin, for messages */
    ferry_json config;  /* config.json; its object is NULL where there is none */
    ferry_ctranslate2_header header;
    bool zero_start; /* the decoder's first embedding is zeros */

    ferry_view unk, bos, eos, start; /* tokens */
    bool source_bos, source_eos;     /* joined to the source by the system itself */
    ferry_ct2_vocabulary source, target;
} ferry_ctranslate2;

/* "encoder/layer_3" and "ffn" with a slash between them. */
ferry_short_text ferry_ct2_join(const char *scope, const char *name);

/* ---- ctranslate2.c ---- */

/* A variable, without counting it as used; NULL if there is none. */
const ferry_weights_entry *ferry_ct2_look(const ferry_ctranslate2 *model, const char *scope, const char *name);
/* A number: a variable of one element, of any type; `missing` if it is absent. A variable with more elements stays
 * unused, which ferry_import_check_unused refuses. */
double ferry_ct2_number(const ferry_ctranslate2 *model, const char *scope, const char *name, double missing);
/* Dimension `index` of a variable of `dims` dimensions, within what Ferry reads. */
ferry_status ferry_ct2_size(const ferry_ctranslate2 *model, const char *scope, const char *name, int32_t dims,
                            int32_t index, int32_t *size, ferry_error *error);
ferry_status ferry_ct2_fail(const ferry_ctranslate2 *model, const char *scope, const char *what, ferry_error *error);

/* ---- ctranslate2_positions.c ---- */

ferry_status ferry_ct2_positions(const ferry_ctranslate2 *model, bool decoder, ferry_error *error);

/* ---- ctranslate2_text.c ---- */

/* Vocabularies, and the tokens that config.json or old models' variables name. */
ferry_status ferry_ct2_tokens(ferry_ctranslate2 *model, ferry_error *error);
/* Ids, segmentation and languages, once the sizes of the plan's stacks are known; `metadata` is an Argos package's. */
ferry_status ferry_ct2_text(const ferry_ctranslate2 *model, ferry_json metadata, ferry_error *error);

#endif
