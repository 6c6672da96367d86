/* What the parts of Marian's importer share. Private to them. */
#ifndef FERRY_MARIAN_MARIAN_H
#define FERRY_MARIAN_MARIAN_H

#include "models/plan/plan.h"

/* The files and settings of a Marian model. */
typedef struct ferry_marian {
    const char *weights;         /* the .npz or .bin */
    ferry_json decoder;          /* decoder.yml; without an object: there is none */
    ferry_json config;           /* special:model.yml */
    int32_t version[3];          /* of the Marian that trained the model */
    const char *vocabularies[2]; /* source, target: the same name when there is one for both */
    bool guessed;                /* no vocabulary is called one: a .spm, as OPUS-MT's, may only segment */
    const char *segmenters[2];   /* SentencePiece models used with other vocabularies; NULL: none */
    const char *lexicon;         /* NULL: none */
    bool student;                /* Bergamot's or Firefox's: their production settings hold */
} ferry_marian;

/* Was the model trained by this version or a later one? */
bool ferry_marian_since(const ferry_marian *marian, int32_t major, int32_t minor, int32_t patch);

/* The pair of languages in the name of the weights ("model.ende.bin"), without tags, if there is one. */
ferry_status ferry_marian_language_pair(ferry_import_plan *plan, const ferry_marian *marian, ferry_error *error);

/* marian_config.c: special:model.yml into plan->model; decoder.yml, or the program's defaults, into
 * plan->model.decoding. Choices that Ferry lacks are refused by key and value. */
ferry_status ferry_marian_config(ferry_import_plan *plan, ferry_marian *marian, ferry_error *error);
ferry_status ferry_marian_decoding(ferry_import_plan *plan, const ferry_marian *marian, ferry_error *error);

/* marian_tensors.c */
ferry_status ferry_marian_tensors(ferry_import_plan *plan, const ferry_marian *marian, ferry_error *error);

/* marian_text.c: vocabularies, special ids, suppressed ids, languages, the shortlist. */
ferry_status ferry_marian_text(ferry_import_plan *plan, const ferry_marian *marian, ferry_error *error);

#endif
