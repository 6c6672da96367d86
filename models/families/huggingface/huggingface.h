/* What the importers of Hugging Face's families share. Names, defaults and rules are those of transformers 5; a key
 * that is absent has the default of its family's class. Private to these importers. */
#ifndef FERRY_HUGGINGFACE_HUGGINGFACE_H
#define FERRY_HUGGINGFACE_HUGGINGFACE_H

#include "models/plan/plan.h"

typedef struct ferry_import_tags ferry_import_tags;

/* A family with BART's layers. Numbers and choices are defaults of its configuration class, for keys that config.json
 * lacks. */
typedef struct ferry_huggingface_family {
    const char *kind; /* ferry.origin.kind */
    int32_t vocab_size;
    bool scale_embedding;
    const char *activation;
    int32_t pad_id, start_id, eos_id;
    bool pre_norm; /* and then a norm after each stack */
    bool embedding_norms;
    bool output_bias;   /* `final_logits_bias`, which may be missing */
    bool untied_output; /* where tie_word_embeddings is missing */
    /* Of the output matrix, below the prefix; where it is missing, the decoder's embedding. NULL: lm_head.weight, which
     * must be there and has no prefix. */
    const char *output;
    bool fairseq_positions; /* sinusoidal, from the row after the padding id on; otherwise from 0 */
    bool stored_positions;  /* a table in the file is used instead */
    int32_t learned_from;   /* above 0: positions are learned, and in the table from this row on */
    /* Further keys of config.json; may set plan->kind. NULL: none. */
    ferry_status (*sizes)(ferry_import_plan *plan, ferry_json config, ferry_error *error);
    /* plan->text, once the tensors are known. */
    ferry_status (*text)(ferry_import_plan *plan, ferry_json config, ferry_error *error);
} ferry_huggingface_family;

extern const ferry_huggingface_family ferry_huggingface_marian, ferry_huggingface_m2m, ferry_huggingface_mbart,
    ferry_huggingface_pegasus, ferry_huggingface_fsmt;
/* t5.c: T5, mT5, MADLAD-400, umT5. */
ferry_status ferry_import_t5(ferry_import_plan *plan, ferry_json config, ferry_error *error);

/* ---- huggingface.c ---- */

/* The first class in `architectures`; NULL if there is none. */
const char *ferry_huggingface_architecture(ferry_json config);
/* generation_config.c: Hugging Face's decoding keys, of generation_config.json, or of config.json where there is none.
 * The ids are the family's defaults. */
ferry_status ferry_huggingface_decoding(ferry_import_plan *plan, ferry_json config, int32_t pad_id, int32_t start_id,
                                        int32_t eos_id, ferry_error *error);
/* plan->prefix becomes the first of `prefixes` (the last one is NULL) with which a tensor's name begins, else "". */
void ferry_huggingface_find_prefix(ferry_import_plan *plan, const char *const *prefixes);
/* The first of `names` (the last one is NULL) that exists carries the matrix [V, D]; others that exist must be equal to
 * it. */
ferry_status ferry_huggingface_take_tied(ferry_import_plan *plan, const char *const *names, int32_t V,
                                         const ferry_weights_entry **tensor, ferry_error *error);
bool ferry_huggingface_same_numbers(const ferry_weights_entry *a, const ferry_weights_entry *b);
/* Tensors that may stay unused: remains of old versions, and buffers that are computed. */
bool ferry_huggingface_is_ignored(ferry_view name);
/* The SentencePiece model `name`, for both sides. UNSUPPORTED if it is missing; the message says what to do. */
ferry_status ferry_huggingface_segmenter(ferry_import_plan *plan, const char *name, ferry_error *error);
/* "</s>" of `vocabulary` must be one of the model's ends of sentence. */
ferry_status ferry_huggingface_check_eos(const ferry_import_plan *plan, ferry_json vocabulary, ferry_error *error);
/* A table of V pieces: SentencePiece's from `first` on, each `shift` rows after its own; others are empty. Its unknown
 * piece must be number `unknown`. */
ferry_status ferry_huggingface_shifted_pieces(ferry_import_plan *plan, int32_t unknown, int32_t first, int32_t shift,
                                              ferry_view **pieces, ferry_error *error);

/* ---- huggingface_text.c: texts of models that fairseq trained ---- */

/* Adds the words of `codes` ("af am ar") with ids from `first` on. */
ferry_status ferry_multilingual_list(ferry_import_plan *plan, const char *codes, int32_t first,
                                     ferry_import_tags *languages, ferry_error *error);
/* NLLB's and mBART's texts: the id of a SentencePiece piece is SentencePiece's + 1, after the pieces come languages.
 * `form` distinguishes their tags from other tokens ("aaa_Aaaa": deu_Latn), `built_in` lists them where no file does.
 */
ferry_status ferry_multilingual_text(ferry_import_plan *plan, const char *form, const char *built_in,
                                     ferry_tag_position source_tag, ferry_error *error);
/* Languages whose tags go where `source_tag` says, and before the translation (FERRY_TAG_NONE: the target's tag goes
 * before the source, and nothing else); their ids' pieces become the tags with
 * `around` on both sides ("__" of M2M-100). A first token that the model forces and that is a language's becomes the
 * default target. */
ferry_status ferry_multilingual_tags(ferry_import_plan *plan, const ferry_import_tags *list, const char *around,
                                     ferry_tag_position source_tag, ferry_error *error);

#endif
