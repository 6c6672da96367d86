/* What configurations can choose and Ferry cannot: one table for all importers. */
#ifndef FERRY_FAMILIES_CHOICES_H
#define FERRY_FAMILIES_CHOICES_H

#include "models/containers/json.h"

/* Whose files. */
enum {
    FERRY_CHOICES_MARIANMT = 1 << 0,
    FERRY_CHOICES_M2M = 1 << 1,
    FERRY_CHOICES_MBART = 1 << 2,
    FERRY_CHOICES_PEGASUS = 1 << 3,
    FERRY_CHOICES_FSMT = 1 << 4,
    FERRY_CHOICES_T5 = 1 << 5,     /* T5's families */
    FERRY_CHOICES_EXPORT = 1 << 6, /* and CTranslate2's config.json, unless it is that of transformers */
    FERRY_CHOICES_CTRANSLATE2 = 1 << 7,
    FERRY_CHOICES_MARIAN = 1 << 8
};

typedef enum ferry_choice_file {
    FERRY_CHOICE_CONFIG,     /* config.json */
    FERRY_CHOICE_GENERATION, /* generation_config.json, or config.json where there is none */
    FERRY_CHOICE_TOKENIZER,  /* tokenizer_config.json */
    FERRY_CHOICE_NETWORK,    /* special:model.yml */
    FERRY_CHOICE_DECODER     /* decoder.yml */
} ferry_choice_file;

/* A key, and the values of it that Ferry knows. Every other value changes what is computed, and is refused. Keys
 * without a row are ignored. */
typedef struct ferry_choice {
    ferry_choice_file file;
    unsigned families;
    const char *key;    /* '*' at an end stands for any letters: "rope_*", "*softcap*" */
    const char *known;  /* values with blanks between them; "=other": the value of the key `other` */
    const char *reason; /* for the message; NULL: it lists the known values */
    const char *absent; /* the value where the file lacks the key; NULL: one that Ferry knows */
} ferry_choice;

extern const ferry_choice ferry_choices[];
extern const size_t ferry_choice_count;

/* Refuses (UNSUPPORTED) the first value that Ferry does not know. The message names file, key and value. Of a list,
 * each element counts. An empty list or object is no value. */
ferry_status ferry_check_choices(ferry_json json, ferry_choice_file file, unsigned family, ferry_error *error);

#endif
