#include "choices.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "models/containers/reader.h"

enum {
    SINUSOIDAL = FERRY_CHOICES_MARIANMT | FERRY_CHOICES_M2M | FERRY_CHOICES_PEGASUS | FERRY_CHOICES_FSMT,
    BART = SINUSOIDAL | FERRY_CHOICES_MBART,
    T5 = FERRY_CHOICES_T5,
    HUGGINGFACE = BART | T5,
    EXPORT = FERRY_CHOICES_EXPORT,
    MARIAN = FERRY_CHOICES_MARIAN,
    ALL = HUGGINGFACE | EXPORT
};
#define CONFIG FERRY_CHOICE_CONFIG
#define GENERATION FERRY_CHOICE_GENERATION
#define TOKENIZER FERRY_CHOICE_TOKENIZER
#define NETWORK FERRY_CHOICE_NETWORK
#define DECODER FERRY_CHOICE_DECODER
#define TOKENIZER_JSON " PreTrainedTokenizerFast TokenizersBackend"

static const char shared_heads[] = "heads that share keys and values", scaled[] = "another scale",
                  window[] = "attention within a window", positions[] = "other positions",
                  experts[] = "mixtures of experts", nested[] = "sizes in a nested object",
                  own_network[] = "the network is a program in the directory, which Ferry does not run",
                  own_tokenizer[] = "the tokenizer is a program in the directory, which Ferry does not run";

const ferry_choice ferry_choices[] = {
    /* ---- config.json: what is in it ---- */
    {CONFIG, HUGGINGFACE, "is_encoder_decoder", .known = "true"},
    {CONFIG, HUGGINGFACE, "tie_encoder_decoder", .known = "false"},
    {CONFIG, HUGGINGFACE, "pruned_heads", .reason = "layers with fewer heads"},
    {CONFIG, HUGGINGFACE, "text_config", .reason = nested},
    {CONFIG, HUGGINGFACE, "encoder", .reason = nested},
    /* FSMT's class drops it. */
    {CONFIG, HUGGINGFACE & ~FERRY_CHOICES_FSMT, "decoder", .reason = nested},
    {CONFIG, HUGGINGFACE, "auto_map", .reason = own_network},
    {CONFIG, HUGGINGFACE, "quantization_config", .reason = "quantized weights"},
    {CONFIG, FERRY_CHOICES_CTRANSLATE2, "quantization_type", .known = "0", .reason = "weights of 4 bits"},
    /* ---- positions ---- */
    {CONFIG, SINUSOIDAL, "*position_embedding_type", .known = "absolute sinusoidal"},
    {CONFIG, FERRY_CHOICES_MBART, "*position_embedding_type", .known = "absolute learned"},
    {CONFIG, T5, "*position_embedding_type", .known = "relative"},
    {CONFIG, EXPORT, "*position_embedding_type", .reason = "the key 'position' says it"},
    {CONFIG, ALL, "*position_embeddings_type", .reason = positions},
    {CONFIG, ALL, "*position_encoding*", .reason = positions},
    {CONFIG, ALL, "*positional_e*", .reason = positions},
    {CONFIG, ALL, "rope_*", .known = "false"},
    {CONFIG, ALL, "use_rope", .known = "false"},
    {CONFIG, ALL, "*rotary*", .known = "false"},
    {CONFIG, ALL, "*alibi*", .known = "false"},
    /* ---- attention ---- */
    {CONFIG, BART, "*num_key_value_heads", .known = "=encoder_attention_heads", .reason = shared_heads},
    {CONFIG, BART, "*num_key_value_heads", .known = "=decoder_attention_heads", .reason = shared_heads},
    {CONFIG, T5, "*num_key_value_heads", .known = "=num_heads =num_attention_heads", .reason = shared_heads},
    {CONFIG, EXPORT, "*num_key_value_heads", .known = "=attention_heads", .reason = shared_heads},
    {CONFIG, ALL, "*kv_heads", .reason = shared_heads},
    {CONFIG, ALL, "multi_query*", .known = "false", .reason = shared_heads},
    {CONFIG, ALL, "*sliding_window*", .known = "0", .reason = window},
    {CONFIG, ALL, "*attention_window", .reason = window},
    {CONFIG, ALL, "*window_size", .known = "0", .reason = window},
    {CONFIG, ALL, "*local_attention*", .known = "false", .reason = window},
    {CONFIG, ALL, "layer_types", .known = "full_attention"},
    {CONFIG, ALL, "*attention_type", .known = "full original_full"},
    {CONFIG, ALL, "*attn_type", .known = "full"},
    {CONFIG, ALL, "*softcap*", .known = "0", .reason = "soft caps"},
    {CONFIG, ALL, "*soft_cap*", .known = "0", .reason = "soft caps"},
    {CONFIG, ALL, "query_pre_attn_scalar", .reason = scaled},
    {CONFIG, ALL, "attention_multiplier", .reason = scaled},
    {CONFIG, ALL, "attention_scale", .reason = scaled},
    {CONFIG, BART, "scale_attn_weights", .known = "true", .reason = scaled},
    {CONFIG, ALL, "scale_attn_by_inverse_layer_idx", .known = "false", .reason = scaled},
    {CONFIG, ALL, "use_logn_attn", .known = "false", .reason = scaled},
    {CONFIG, ALL, "*qk_norm*", .known = "false", .reason = "norms of queries and keys"},
    {CONFIG, ALL, "qk_layernorm", .known = "false", .reason = "norms of queries and keys"},
    {CONFIG, HUGGINGFACE, "cross_attention_hidden_size", .known = "=d_model =hidden_size"},
    /* ---- norms, residuals, layers, output ---- */
    {CONFIG, BART | EXPORT, "*norm_type", .known = "layernorm"},
    {CONFIG, T5, "*norm_type", .known = "rms rmsnorm"},
    {CONFIG, BART | EXPORT, "*normalization*", .known = "layernorm"},
    {CONFIG, T5, "*normalization*", .known = "rms rmsnorm"},
    {CONFIG, BART | EXPORT, "*rms_norm*", .known = "false", .reason = "RMS norms"},
    {CONFIG, T5, "rms_norm_eps", .known = "=layer_norm_epsilon"},
    {CONFIG, ALL, "*deepnorm*", .known = "false", .reason = scaled},
    {CONFIG, ALL, "residual_multiplier", .known = "1", .reason = scaled},
    {CONFIG, ALL, "residual_scale", .known = "1", .reason = scaled},
    {CONFIG, ALL, "embedding_multiplier", .known = "1", .reason = scaled},
    {CONFIG, ALL, "logits_scaling", .known = "1", .reason = scaled},
    {CONFIG, ALL, "logit_scale", .known = "1", .reason = scaled},
    {CONFIG, ALL, "parallel_attn", .known = "false", .reason = "blocks side by side"},
    {CONFIG, ALL, "use_parallel_residual", .known = "false", .reason = "blocks side by side"},
    {CONFIG, ALL, "*_experts", .known = "0 1", .reason = experts},
    /* ---- generation_config.json: a value that switches the rule off ---- */
    {GENERATION, HUGGINGFACE, "do_sample", .known = "false"},
    {GENERATION, HUGGINGFACE, "num_beam_groups", .known = "1"},
    {GENERATION, HUGGINGFACE, "diversity_penalty", .known = "0"},
    {GENERATION, HUGGINGFACE, "penalty_alpha", .known = "0"},
    {GENERATION, HUGGINGFACE, "encoder_repetition_penalty", .known = "1"},
    {GENERATION, HUGGINGFACE, "encoder_no_repeat_ngram_size", .known = "0"},
    {GENERATION, HUGGINGFACE, "exponential_decay_length_penalty", .known = "0"},
    {GENERATION, HUGGINGFACE, "sequence_bias", .known = "0"},
    {GENERATION, HUGGINGFACE, "begin_suppress_tokens", .known = "false"},
    {GENERATION, HUGGINGFACE, "guidance_scale", .known = "1"},
    {GENERATION, HUGGINGFACE, "watermarking_config", .known = "0"},
    {GENERATION, HUGGINGFACE, "stop_strings", .known = "false"},
    {GENERATION, HUGGINGFACE, "max_time", .known = "0"},
    {GENERATION, HUGGINGFACE, "constraints", .known = "false"},
    {GENERATION, HUGGINGFACE, "force_words_ids", .known = "false"},
    {GENERATION, HUGGINGFACE, "token_healing", .known = "false"},
    {GENERATION, HUGGINGFACE, "dola_layers", .known = "0"},
    /* ---- tokenizer_config.json; a class also with "Fast" at its end ---- */
    {TOKENIZER, HUGGINGFACE, "auto_map", .reason = own_tokenizer},
    {TOKENIZER, HUGGINGFACE, "sp_model_kwargs", .reason = "options of SentencePiece"},
    {TOKENIZER, FERRY_CHOICES_FSMT, "do_lower_case", .known = "false"},
    {TOKENIZER, FERRY_CHOICES_MARIANMT, "tokenizer_class", .known = "MarianTokenizer" TOKENIZER_JSON},
    {TOKENIZER, FERRY_CHOICES_M2M, "tokenizer_class",
     .known = "M2M100Tokenizer NllbTokenizer SMALL100Tokenizer" TOKENIZER_JSON},
    {TOKENIZER, FERRY_CHOICES_MBART, "tokenizer_class", .known = "MBartTokenizer MBart50Tokenizer" TOKENIZER_JSON},
    {TOKENIZER, FERRY_CHOICES_PEGASUS, "tokenizer_class", .known = "PegasusTokenizer" TOKENIZER_JSON},
    {TOKENIZER, FERRY_CHOICES_FSMT, "tokenizer_class", .known = "FSMTTokenizer"},
    {TOKENIZER, FERRY_CHOICES_T5, "tokenizer_class", .known = "T5Tokenizer MT5Tokenizer" TOKENIZER_JSON},
    /* ---- Marian's special:model.yml ---- */
    {NETWORK, MARIAN, "type", .known = "transformer", .absent = "amun"},
    {NETWORK, MARIAN, "input-types", .known = "sequence"},
    {NETWORK, MARIAN, "transformer-decoder-autoreg", .known = "self-attention rnn"},
    {NETWORK, MARIAN, "transformer-ffn-depth", .known = "2"},
    {NETWORK, MARIAN, "transformer-decoder-ffn-depth", .known = "0 2"},
    {NETWORK, MARIAN, "transformer-no-projection", .known = "false"},
    {NETWORK, MARIAN, "transformer-rnn-projection", .known = "false"},
    {NETWORK, MARIAN, "transformer-train-position-embeddings", .known = "false"},
    {NETWORK, MARIAN, "transformer-disable-position-embeddings", .known = "false"},
    {NETWORK, MARIAN, "transformer-attention-mask", .known = "default"},
    {NETWORK, MARIAN, "transformer-pool", .known = "false"},
    {NETWORK, MARIAN, "transformer-no-bias", .known = "false"},
    {NETWORK, MARIAN, "transformer-no-affine", .known = "false"},
    {NETWORK, MARIAN, "lemma-dim-emb", .known = "0"},
    {NETWORK, MARIAN, "ulr", .known = "false"},
    {NETWORK, MARIAN, "right-left", .known = "false"},
    /* ---- Marian's decoder.yml ---- */
    {DECODER, MARIAN, "ignore-model-config", .known = "false"},
    {DECODER, MARIAN, "output-approx-knn", .reason = "approximate products"},
    {DECODER, MARIAN, "force-decode", .known = "false"},
    {DECODER, MARIAN, "output-sampling", .known = "false"},
    {DECODER, MARIAN, "no-spm-encode", .known = "false"},
    {DECODER, MARIAN, "no-spm-decode", .known = "false"},
};
const size_t ferry_choice_count = sizeof ferry_choices / sizeof ferry_choices[0];

/* ---- values ---- */

/* Without regard to case and to '_' and '-'. */
static bool same_word(const char *known, const char *found)
{
    const size_t size = strlen(known);
    while (*found != '\0' || *known != '\0') {
        if (*known == '_' || *known == '-') {
            known++;
        } else if (*found == '_' || *found == '-') {
            found++;
        } else {
            if (!ferry_same_letters((ferry_view){known, 1}, (ferry_view){found, 1})) return false;
            known++;
            found++;
        }
    }
    return size > 0;
}

/* true is 1, and 0.0 is 0, as in Python. */
static bool to_number(const char *text, double *number)
{
    char *end;
    const bool yes = strcmp(text, "true") == 0;
    *number = yes;
    if (yes || strcmp(text, "false") == 0) return true;
    *number = strtod(text, &end);
    return *text != '\0' && *end == '\0';
}

/* A scalar as a text: of a class, without "Fast". */
static ferry_short_text text_of(const json_t *value)
{
    static const char fast[] = "TokenizerFast", general[] = "PreTrainedTokenizerFast";
    if (json_is_boolean(value)) return ferry_format("%s", json_is_true(value) ? "true" : "false");
    if (json_is_number(value)) return ferry_format("%.17g", json_number_value(value));
    ferry_short_text text = ferry_format("%s", json_is_string(value) ? json_string_value(value) : "");
    if (ferry_text_ends(text.text, fast) && strcmp(text.text, general) != 0)
        text.text[strlen(text.text) - strlen("Fast")] = '\0';
    return text;
}

static bool is_known(ferry_json json, const ferry_choice *choice, const json_t *value)
{
    if (json_is_object(value)) return json_object_size(value) == 0;
    const ferry_short_text found = text_of(value);
    double number, other;
    const bool numeric = to_number(found.text, &number);
    ferry_view rest = ferry_text_view(choice->known != NULL ? choice->known : "");
    while (rest.size > 0) {
        const ferry_view word = ferry_first_word(rest);
        const size_t step = word.size + (word.size < rest.size);
        rest = (ferry_view){rest.data + step, rest.size - step};
        ferry_short_text known = ferry_format("%.*s", (int)word.size, word.data);
        if (known.text[0] == '=') known = text_of(ferry_json_get(json, known.text + 1));
        if (numeric ? to_number(known.text, &other) && number == other : same_word(known.text, found.text)) return true;
    }
    return false;
}

static ferry_status check_value(ferry_json json, const ferry_choice *choice, const char *key, const json_t *value,
                                ferry_error *error)
{
    const size_t count = json_is_array(value) ? json_array_size(value) : 1;
    for (size_t i = 0; i < count; i++) {
        const json_t *one = json_is_array(value) ? json_array_get(value, i) : value;
        if (is_known(json, choice, one)) continue;
        const ferry_printable name = ferry_printable_text(key), found = ferry_printable_text(text_of(one).text);
        const bool lists = choice->reason == NULL && choice->known != NULL, says = found.text[0] != '\0';
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: '%s%s%s' is not supported%s%s%s%s%s%s", json.file,
                          name.text, json.texts ? ": " : "", json.texts ? found.text : "",
                          choice->reason != NULL ? ": " : "", choice->reason != NULL ? choice->reason : "",
                          lists ? ": expected " : "", lists ? choice->known : "", says && !json.texts ? ", found " : "",
                          json.texts ? "" : found.text);
    }
    return FERRY_OK;
}

/* "rope_*", "*softcap*" */
static bool fits(const char *pattern, const char *key)
{
    const size_t size = strlen(pattern);
    const bool before = pattern[0] == '*', after = pattern[size - 1] == '*';
    const ferry_view inner = {pattern + before, size - before - after}, view = ferry_text_view(key);
    if (before && after) return ferry_view_contains(view, ferry_format("%.*s", (int)inner.size, inner.data).text);
    return view.size >= inner.size &&
           memcmp(before ? key + view.size - inner.size : key, inner.data, inner.size) == 0 &&
           (before || after || view.size == inner.size);
}

ferry_status ferry_check_choices(ferry_json json, ferry_choice_file file, unsigned family, ferry_error *error)
{
    for (size_t i = 0; i < ferry_choice_count; i++) {
        const ferry_choice *choice = &ferry_choices[i];
        const char *key;
        json_t *value;
        if (choice->file != file || (choice->families & family) == 0) continue;
        if (choice->absent != NULL && ferry_json_get(json, choice->key) == NULL)
            return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: '%s: %s' is not supported", json.file, choice->key,
                              choice->absent);
        json_object_foreach ((json_t *)(uintptr_t)json.object, key, value)
            if (!json_is_null(value) && fits(choice->key, key)) FERRY_TRY(check_value(json, choice, key, value, error));
    }
    return FERRY_OK;
}
