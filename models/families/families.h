/* The importers, and the parts that several of them share. */
#ifndef FERRY_FAMILIES_FAMILIES_H
#define FERRY_FAMILIES_FAMILIES_H

#include "models/plan/plan.h"

/* ---- importers: each says whether it knows what the source holds, and fills a plan from it ---- */

/* `config` is config.json, its object NULL where there is none. */
bool ferry_import_is_export_layout(const ferry_import_plan *plan, ferry_json config);
ferry_status ferry_import_export_layout(ferry_import_plan *plan, ferry_json config, ferry_error *error);
bool ferry_import_is_huggingface(const ferry_import_plan *plan, ferry_json config);
ferry_status ferry_import_huggingface(ferry_import_plan *plan, ferry_json config, ferry_error *error);
/* OPUS-MT archives, Bergamot and Firefox models, Marian's .npz and .bin. */
/* Whether the file `name` holds a Marian model's weights: an .npz, but not an optimizer's state; a .bin by its content,
 * unless its name says that it is a shortlist or a quality model. Files in folders do not count. */
bool ferry_import_is_marian_weights(const ferry_import_plan *plan, const char *name);
bool ferry_import_is_marian(const ferry_import_plan *plan, ferry_json config);
ferry_status ferry_import_marian(ferry_import_plan *plan, ferry_json config, ferry_error *error);
/* CTranslate2 directories, Argos packages. */
bool ferry_import_is_ctranslate2(const ferry_import_plan *plan, ferry_json config);
ferry_status ferry_import_ctranslate2(ferry_import_plan *plan, ferry_json config, ferry_error *error);
/* Ferry's own model files, which the caller names. Other files of their folder are ignored. */
bool ferry_import_is_model_file(const ferry_import_plan *plan);
ferry_status ferry_import_model_file(ferry_import_plan *plan, ferry_error *error);

/* ---- parts that importers share ---- */

/* huggingface.c */
/* The layers and end norms of the BART family's names, `{encoder,decoder}.layers.N.self_attn.q_proj…`,
 * for the sizes in plan->model. */
ferry_status ferry_import_bart_layers(ferry_import_plan *plan, ferry_error *error);
/* `final_logits_bias`, unless it is missing or all zeros. */
ferry_status ferry_import_bart_bias(ferry_import_plan *plan, ferry_error *error);
/* relu, gelu, swish and its other name silu; gelu_new, gelu_pytorch_tanh, gelu_fast, gelu_accurate; quick_gelu. */
ferry_status ferry_import_activation(const char *file, const char *name, ferry_activation *activation,
                                     ferry_error *error);
/* Head width and attention scale, for stack->heads. Errors: FORMAT. */
ferry_status ferry_import_split_heads(const char *file, int32_t d_model, ferry_stack *stack, ferry_error *error);
/* bart_families.c */
/* Whether the files are those of SMaLL-100, whose sources begin with the tag of the target language;
 * `tokenizer_class` is that of tokenizer_config.json, or "". */
bool ferry_import_is_small100(const ferry_import_plan *plan, const char *tokenizer_class);
/* t5.c */
/* MADLAD's pieces "<2de>", which are prompts for a target language. */
ferry_status ferry_import_madlad_tags(ferry_import_plan *plan, ferry_error *error);

#endif
