#include "schema.h"

#include "engine/graph/transformer.h"
#include "tokenizer/tokenizer.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Limits beside those of schema.h. */
enum {
    MAX_LAYERS = 1024,
    MAX_HEADS = 4096,
    MAX_WIDTH = 1 << 16,
    MAX_BEAM = 1024,
    MAX_PATIENCE = 100,
    MAX_THREADS = 1024,
    MAX_BATCH = 1 << 16
};

/* Limits on decoding defaults in a model file: above every published model, low enough that a hostile file cannot make
 * a line expensive. */
enum {
    FILE_BEAM = 64,
    FILE_LENGTH = 4096,
    FILE_MIN_LENGTH = 512,
    FILE_LENGTH_FACTOR = 16,
    FILE_NGRAM = 64,
    FILE_EOS_IDS = 64,
    FILE_ADDED_IDS = 64, /* to the ids of a line */
    FILE_LANGUAGES = 4096,
    FILE_PROMPTS = 1 << 16,
    FILE_STEPS = 48 /* of text_rules.h, with their arguments */
};

/* ---- names ---- */

const char *const ferry_policy_names[] = {[FERRY_POLICY_HUGGINGFACE] = "huggingface",
                                          [FERRY_POLICY_MARIAN] = "marian",
                                          [FERRY_POLICY_CTRANSLATE2] = "ctranslate2",
                                          NULL};
static const char *const early_stopping_names[] = {[FERRY_EARLY_STOPPING_FALSE] = "false",
                                                   [FERRY_EARLY_STOPPING_TRUE] = "true",
                                                   [FERRY_EARLY_STOPPING_NEVER] = "never",
                                                   NULL};
static const char *const split_names[] = {
    [FERRY_SPLIT_NONE] = "none", [FERRY_SPLIT_AUTO] = "auto", [FERRY_SPLIT_ALL] = "all", NULL};
static const char *const on_loop_names[] = {[FERRY_ON_LOOP_WARN] = "warn", [FERRY_ON_LOOP_RETRY] = "retry", NULL};
static const char *const on_number_names[] = {[FERRY_ON_NUMBER_WARN] = "warn", [FERRY_ON_NUMBER_RETRY] = "retry", NULL};
const char *const ferry_activation_names[] = {[FERRY_RELU] = "relu",
                                              [FERRY_GELU] = "gelu",
                                              [FERRY_SWISH] = "swish",
                                              [FERRY_GELU_TANH] = "gelu_tanh",
                                              [FERRY_GELU_SIGMOID] = "gelu_sigmoid",
                                              NULL};
const char *const ferry_tag_position_names[] = {[FERRY_TAG_NONE] = "none",
                                                [FERRY_TAG_PREFIX] = "prefix",
                                                [FERRY_TAG_SUFFIX] = "suffix",
                                                [FERRY_TAG_FIRST] = "first",
                                                NULL};
const char *const ferry_norm_names[] = {[FERRY_LAYER_NORM] = "layernorm", [FERRY_RMS_NORM] = "rms", NULL};
const char *const ferry_norm_position_names[] = {"post", "pre", NULL};
const char *const ferry_block_names[] = {"attention", "ssru", NULL};
const char *const ferry_tokenizer_names[] = {[FERRY_TOKENIZER_NONE] = "none",
                                             [FERRY_TOKENIZER_PIECES] = "pieces",
                                             [FERRY_TOKENIZER_SENTENCEPIECE] = "sentencepiece",
                                             [FERRY_TOKENIZER_UNIGRAM] = "unigram",
                                             [FERRY_TOKENIZER_BPE] = "bpe",
                                             [FERRY_TOKENIZER_SUBWORD_NMT_1] = "subword-nmt-0.1",
                                             [FERRY_TOKENIZER_SUBWORD_NMT_2] = "subword-nmt-0.2",
                                             [FERRY_TOKENIZER_FSMT] = "fsmt",
                                             NULL};
/* In the order of ferry_decoder_bytes and ferry_decoder_blanks. */
static const char *const decoder_bytes_names[] = {"each", "run", "none", NULL};
static const char *const decoder_blanks_names[] = {"trim", "first-piece", "first-blank", "keep", NULL};
static const char *const rotation_names[] = {"linear", "llama3", "yarn", NULL};
static const char *const matrix_type_names[] = {"f32", "f16", "i8", "i4", NULL};

const ferry_feature ferry_features[] = {
    {"encoder-decoder", NULL},
    {"panels16", NULL},
    {"type", matrix_type_names},
    {"norm", ferry_norm_names},
    {"norm-position", ferry_norm_position_names},
    {"activation", ferry_activation_names},
    {"decoder", ferry_block_names},
    {"rotation", rotation_names},
    {"policy", ferry_policy_names},
    {"tokenizer", ferry_tokenizer_names},
    {"ffn:gated", NULL},
    {"embedding-norm", NULL},
    {"final-norm:post", NULL}, /* a post-norm stack with a final norm */
    {"final-norm:none", NULL}, /* a pre-norm stack without */
    {"output-scale", NULL},
    {"output-coarse", NULL}, /* of early files, without a bound: the coarse matrix is not used */
    {"output-coarse:bound", NULL},
    {"planes", NULL}, /* an int8 matrix in two planes of nibbles */
    {"start:zero", NULL},
    {"shortlist", NULL},
    {"inputs:sentence", NULL},
    {"opus-punctuation", NULL},
    {"moses", NULL},
    {"languages", NULL},
    {NULL, NULL},
};

bool ferry_schema_knows_feature(ferry_view word)
{
    static const char positions[] = "position:";
    if (word.size >= sizeof positions - 1 && memcmp(word.data, positions, sizeof positions - 1) == 0) return true;
    for (const ferry_feature *f = ferry_features; f->prefix != NULL; f++) {
        if (f->choices == NULL && ferry_view_is(word, f->prefix)) return true;
        for (size_t i = 0; f->choices != NULL && f->choices[i] != NULL; i++)
            if (ferry_view_is(word, ferry_format("%s:%s", f->prefix, f->choices[i]).text)) return true;
    }
    return false;
}

/* ---- keys ---- */

#define FIELD(type, member) .offset = offsetof(type, member), .size = sizeof(((type *)NULL)->member)
#define COUNT(type, member) .count_offset = offsetof(type, member), .count_size = sizeof(((type *)NULL)->member)
#define COUNT_KEYS(keys) keys, sizeof keys / sizeof keys[0]
#define ANY_REAL .min = -INFINITY, .max = INFINITY
#define POSITIVE .above = true, .max = INFINITY
#define TARGET_ID_OR_NONE .min = -1, .bound = FERRY_BOUND_TARGET_ID

static const ferry_key graph_keys[] = {
    {"d_model", FERRY_KEY_SIZE, FIELD(ferry_transformer, d_model), .min = 1, .max = MAX_WIDTH},
    {"embedding_scale", FERRY_KEY_REAL, FIELD(ferry_transformer, embedding_scale), ANY_REAL, .default_value = 1},
    {"output_scale", FERRY_KEY_REAL, FIELD(ferry_transformer, output_scale), ANY_REAL, .optional = true,
     .default_value = 1},
    {"tied_embeddings", FERRY_KEY_BOOL, FIELD(ferry_transformer, tied_embeddings)},
    {"tied_output", FERRY_KEY_BOOL, FIELD(ferry_transformer, tied_output)},
    {"output_bias", FERRY_KEY_BOOL, FIELD(ferry_transformer, output_bias)},
    {"inputs_by_sentence", FERRY_KEY_BOOL, FIELD(ferry_transformer, sentence_inputs), .optional = true},
};

static const ferry_key stack_keys[] = {
    {"layers", FERRY_KEY_SIZE, FIELD(ferry_stack, layer_count), .min = 1, .max = MAX_LAYERS},
    {"heads", FERRY_KEY_SIZE, FIELD(ferry_stack, heads), .min = 1, .max = MAX_HEADS},
    {"head_width", FERRY_KEY_SIZE, FIELD(ferry_stack, head_width), .min = 1, .max = MAX_WIDTH},
    {"ffn_width", FERRY_KEY_SIZE, FIELD(ferry_stack, ffn_width), .min = 1, .max = FERRY_MAX_SIZE},
    {"vocab_size", FERRY_KEY_SIZE, FIELD(ferry_stack, vocab_size), .min = 1, .max = FERRY_MAX_VOCABULARY},
    {"activation", FERRY_KEY_CHOICE, FIELD(ferry_stack, activation), .choices = ferry_activation_names},
    {"ffn_gated", FERRY_KEY_BOOL, FIELD(ferry_stack, gated), .optional = true},
    {"norm", FERRY_KEY_CHOICE, FIELD(ferry_stack, norm), .choices = ferry_norm_names},
    {"norm_position", FERRY_KEY_CHOICE, FIELD(ferry_stack, pre_norm), .choices = ferry_norm_position_names},
    {"norm_eps", FERRY_KEY_REAL, FIELD(ferry_stack, norm_eps), POSITIVE},
    {"embedding_norm", FERRY_KEY_BOOL, FIELD(ferry_stack, has_embedding_norm), .optional = true},
    {"final_norm", FERRY_KEY_BOOL, FIELD(ferry_stack, has_final_norm)},
    {"linear_bias", FERRY_KEY_BOOL, FIELD(ferry_stack, linear_bias)},
    {"attention_scale", FERRY_KEY_REAL, FIELD(ferry_stack, attention_scale), ANY_REAL},
};

static const ferry_key block_keys[] = {
    {"block", FERRY_KEY_CHOICE, FIELD(ferry_transformer, ssru), .choices = ferry_block_names},
};

static const ferry_key generation_keys[] = {
    {"alignment_layer", FERRY_KEY_ID, FIELD(ferry_generation, alignment_layer), .optional = true, .default_value = -1,
     .min = -1, .bound = FERRY_BOUND_LAYER},
    {"alignment_head", FERRY_KEY_ID, FIELD(ferry_generation, alignment_head), .optional = true, .default_value = -1,
     .min = -1, .bound = FERRY_BOUND_HEAD},
    {"alignment_heads", FERRY_KEY_SIZE, FIELD(ferry_generation, alignment_heads), .optional = true, .min = 1,
     .default_value = 1, .bound = FERRY_BOUND_HEADS},
    {"shortlist.first", FERRY_KEY_SIZE, FERRY_WHEN_SHORTLIST, FIELD(ferry_generation, shortlist.first),
     .bound = FERRY_BOUND_TARGET_COUNT},
    {"shortlist.shared", FERRY_KEY_BOOL, FERRY_WHEN_SHORTLIST, FIELD(ferry_generation, shortlist.shared)},
    {"start_id", FERRY_KEY_ID, FIELD(ferry_generation, start_id), TARGET_ID_OR_NONE},
    {"eos_ids", FERRY_KEY_IDS, FIELD(ferry_generation, eos_ids), COUNT(ferry_generation, eos_count),
     .bound = FERRY_BOUND_TARGET_ID, .max_count = FILE_EOS_IDS},
    {"pad_id", FERRY_KEY_ID, FIELD(ferry_generation, pad_id), TARGET_ID_OR_NONE, .default_value = -1},
};

/* A search option is a field of ferry_options and a row here. */
static const ferry_key decoding_keys[] = {
    {"policy", FERRY_KEY_CHOICE, FIELD(ferry_decoding, search.policy), .choices = ferry_policy_names,
     .help = "use the search rules of this system"},
    {"beam", FERRY_KEY_SIZE, FIELD(ferry_decoding, options.beam), .min = 1, .max = MAX_BEAM, .file_max = FILE_BEAM,
     .default_value = 1, .help = "hypotheses kept; 1 is greedy search"},
    {"nbest", FERRY_KEY_SIZE, FERRY_WHEN_NEVER, FIELD(ferry_decoding, options.nbest), .min = 1,
     .bound = FERRY_BOUND_BEAM, .max = MAX_BEAM, .default_value = 1,
     .help = "print the N best: LINE ||| TEXT ||| F0= SUM ||| SCORE"},
    {"length_penalty", FERRY_KEY_REAL, FIELD(ferry_decoding, options.length_penalty), .min = -1000, .max = 1000,
     .default_value = 1, .help = "score = sum of log-probabilities / length^X"},
    {"word_penalty", FERRY_KEY_REAL, FIELD(ferry_decoding, search.word_penalty), .min = -1000, .max = 1000,
     .optional = true, .help = "subtracted from the sum for each token; 0 is off"},
    {"early_stopping", FERRY_KEY_CHOICE, FIELD(ferry_decoding, search.early_stopping), .choices = early_stopping_names,
     .help = "when beam search ends (as in Hugging Face's `generate`)"},
    {"max_source", FERRY_KEY_SIZE, FERRY_WHEN_NEVER, FIELD(ferry_decoding, options.max_source), .max = FERRY_MAX_SIZE,
     .help = "translate lines of more than N source tokens in parts; 0: the model's limit, else 512"},
    {"max_length", FERRY_KEY_SIZE, FIELD(ferry_decoding, options.max_length), .max = FERRY_MAX_SIZE,
     .file_max = FILE_LENGTH, .help = "at most N target tokens; 0: depends on the source length"},
    {"length_factor", FERRY_KEY_REAL, FIELD(ferry_decoding, options.length_factor), .max = 1024,
     .file_max = FILE_LENGTH_FACTOR, .optional = true, .default_value = 3},
    {"length_extra", FERRY_KEY_SIZE, FIELD(ferry_decoding, options.length_extra), .max = FERRY_MAX_SIZE,
     .file_max = FILE_LENGTH, .optional = true, .default_value = 50},
    {"min_length", FERRY_KEY_SIZE, FIELD(ferry_decoding, options.min_length), .max = FERRY_MAX_SIZE,
     .file_max = FILE_MIN_LENGTH, .help = "at least N target tokens"},
    {"repetition_penalty", FERRY_KEY_REAL, FIELD(ferry_decoding, options.repetition_penalty), .min = 1e-3, .max = 1000,
     .default_value = 1, .help = "penalty for tokens that occurred; 1 is off"},
    {"no_repeat_ngram", FERRY_KEY_SIZE, FIELD(ferry_decoding, options.no_repeat_ngram), .max = FERRY_MAX_SIZE,
     .file_max = FILE_NGRAM, .help = "no sequence of N tokens occurs twice; 0 is off"},
    {"renormalize", FERRY_KEY_BOOL, FIELD(ferry_decoding, search.renormalize)},
    {"forced_first_id", FERRY_KEY_ID, FIELD(ferry_decoding, search.forced_first_id), TARGET_ID_OR_NONE,
     .default_value = -1},
    {"forced_last_id", FERRY_KEY_ID, FIELD(ferry_decoding, search.forced_last_id), TARGET_ID_OR_NONE,
     .default_value = -1},
    {"suppressed_ids", FERRY_KEY_IDS, FIELD(ferry_decoding, search.suppressed_ids),
     COUNT(ferry_decoding, search.suppressed_count), .bound = FERRY_BOUND_TARGET_ID},
    {"shortlist", FERRY_KEY_BOOL, FIELD(ferry_decoding, options.shortlist), .optional = true, .default_value = 1},
    {"scores", FERRY_KEY_BOOL, FERRY_WHEN_NEVER, FIELD(ferry_decoding, options.scores), .default_value = 1},
    {"threads", FERRY_KEY_SIZE, FERRY_WHEN_NEVER, FIELD(ferry_decoding, options.threads), .min = 1, .max = MAX_THREADS,
     .default_value = 1, .help = "number of threads"},
    {"batch", FERRY_KEY_SIZE, FERRY_WHEN_NEVER, FIELD(ferry_decoding, options.batch), .min = 1, .max = MAX_BATCH,
     .default_value = 64, .help = "lines decoded together"},
    {"alignment", FERRY_KEY_BOOL, FERRY_WHEN_NEVER, FIELD(ferry_decoding, options.alignment)},
    {"replace_unknowns", FERRY_KEY_BOOL, FERRY_WHEN_NEVER, FIELD(ferry_decoding, options.replace_unknowns),
     .help = "an unknown word becomes the source word that it comes from"},
    {"alternatives", FERRY_KEY_BOOL, FERRY_WHEN_NEVER, FIELD(ferry_decoding, options.alternatives),
     .help = "the N best differ in their first token"},
    {"sample", FERRY_KEY_BOOL, FERRY_WHEN_NEVER, FIELD(ferry_decoding, options.sample),
     .help = "draw the N best at random"},
    {"temperature", FERRY_KEY_REAL, FERRY_WHEN_NEVER, FIELD(ferry_decoding, options.temperature), .above = true,
     .max = 1000, .default_value = 1, .help = "of --sample: near 0 as greedy search, 1 as the model says"},
    {"top_k", FERRY_KEY_SIZE, FERRY_WHEN_NEVER, FIELD(ferry_decoding, options.top_k), .max = FERRY_MAX_VOCABULARY,
     .help = "of --sample: only the N likeliest tokens are drawn; 0: all"},
    {"top_p", FERRY_KEY_REAL, FERRY_WHEN_NEVER, FIELD(ferry_decoding, options.top_p), .above = true, .max = 1,
     .default_value = 1, .help = "of --sample: only the likeliest tokens that add up to probability X"},
    {"split", FERRY_KEY_CHOICE, FERRY_WHEN_NEVER, FIELD(ferry_decoding, options.split), .choices = split_names,
     .help = "which lines are translated sentence by sentence; default: auto"},
    {"on_loop", FERRY_KEY_CHOICE, FERRY_WHEN_NEVER, FIELD(ferry_decoding, options.on_loop), .choices = on_loop_names,
     .help = "what to do with a translation that repeats itself"},
    {"on_number", FERRY_KEY_CHOICE, FERRY_WHEN_NEVER, FIELD(ferry_decoding, options.on_number),
     .choices = on_number_names, .help = "what to do with a translation that has other numbers"},
    {"patience", FERRY_KEY_REAL, FERRY_WHEN_NEVER, FIELD(ferry_decoding, search.patience), .above = true,
     .max = MAX_PATIENCE, .default_value = 1, .help = "of CTranslate2's policy: wait for X * beam finished hypotheses"},
    {"coverage_penalty", FERRY_KEY_REAL, FERRY_WHEN_NEVER, FIELD(ferry_decoding, search.coverage_penalty), .min = -1000,
     .max = 1000, .help = "of CTranslate2's policy: weight of source words that were not attended to"},
};

static const ferry_key tokenizer_kind_keys[] = {
    {"kind", FERRY_KEY_CHOICE, FIELD(ferry_tokenizer_config, kind), .choices = ferry_tokenizer_names},
};

static const ferry_key tokenizer_keys[] = {
    {"source.unk_id", FERRY_KEY_SIZE, FIELD(ferry_tokenizer_config, source_unk_id), .bound = FERRY_BOUND_SOURCE_ID},
    {"source.leading_tag", FERRY_KEY_BOOL, FIELD(ferry_tokenizer_config, leading_tag)},
    {"source.opus_punctuation", FERRY_KEY_BOOL, FIELD(ferry_tokenizer_config, opus_punctuation), .optional = true},
    {"source.prefix_ids", FERRY_KEY_IDS, FIELD(ferry_tokenizer_config, prefix_ids),
     COUNT(ferry_tokenizer_config, prefix_count), .bound = FERRY_BOUND_SOURCE_ID, .max_count = FILE_ADDED_IDS},
    {"source.suffix_ids", FERRY_KEY_IDS, FIELD(ferry_tokenizer_config, suffix_ids),
     COUNT(ferry_tokenizer_config, suffix_count), .bound = FERRY_BOUND_SOURCE_ID, .max_count = FILE_ADDED_IDS},
    {"target.special_ids", FERRY_KEY_IDS, FIELD(ferry_tokenizer_config, special_ids),
     COUNT(ferry_tokenizer_config, special_count), .bound = FERRY_BOUND_TARGET_ID},
    {"source.model", FERRY_KEY_BYTES, FERRY_WHEN_SENTENCEPIECE, FIELD(ferry_tokenizer_config, source_model)},
    {"target.model", FERRY_KEY_BYTES, FERRY_WHEN_TWO_MODELS, FIELD(ferry_tokenizer_config, target_model),
     .optional = true},
    {"source.pieces", FERRY_KEY_TEXTS, FIELD(ferry_tokenizer_config, source_pieces),
     COUNT(ferry_tokenizer_config, source_count), .matches = true},
    {"target.pieces", FERRY_KEY_TEXTS, FERRY_WHEN_TWO_TABLES, FIELD(ferry_tokenizer_config, target_pieces),
     COUNT(ferry_tokenizer_config, target_count), .matches = true, .optional = true},
    {"source.scores", FERRY_KEY_REALS, FERRY_WHEN_UNIGRAM, FIELD(ferry_tokenizer_config, scores),
     COUNT(ferry_tokenizer_config, source_count), .matches = true},
    {"source.byte_fallback", FERRY_KEY_BOOL, FERRY_WHEN_WORDS, FIELD(ferry_tokenizer_config, byte_fallback),
     .optional = true},
    {"source.steps", FERRY_KEY_TEXTS, FERRY_WHEN_WORDS, FIELD(ferry_tokenizer_config, rules.steps),
     COUNT(ferry_tokenizer_config, rules.step_count), .optional = true, .max_count = FILE_STEPS},
    {"source.charsmap", FERRY_KEY_BYTES, FERRY_WHEN_WORDS, FIELD(ferry_tokenizer_config, rules.charsmap),
     .optional = true},
    {"source.added_ids", FERRY_KEY_IDS, FERRY_WHEN_WORDS, FIELD(ferry_tokenizer_config, rules.added_ids),
     COUNT(ferry_tokenizer_config, rules.added_count), .bound = FERRY_BOUND_SOURCE_ID, .optional = true},
    {"source.added_flags", FERRY_KEY_IDS, FERRY_WHEN_WORDS, FIELD(ferry_tokenizer_config, rules.added_flags),
     COUNT(ferry_tokenizer_config, rules.added_count), .matches = true, .max = FERRY_ADDED_FLAGS},
    {"source.merges", FERRY_KEY_TEXTS, FERRY_WHEN_MERGES, FIELD(ferry_tokenizer_config, source_merges),
     COUNT(ferry_tokenizer_config, source_merge_count), .max_count = FERRY_BPE_MAX_MERGES},
    {"target.merges", FERRY_KEY_TEXTS, FERRY_WHEN_TWO_MERGES, FIELD(ferry_tokenizer_config, target_merges),
     COUNT(ferry_tokenizer_config, target_merge_count), .max_count = FERRY_BPE_MAX_MERGES, .optional = true},
    {"source.moses", FERRY_KEY_TEXT, FERRY_WHEN_SUBWORDS, FIELD(ferry_tokenizer_config, source_moses),
     .optional = true},
    {"target.moses", FERRY_KEY_TEXT, FERRY_WHEN_SUBWORDS, FIELD(ferry_tokenizer_config, target_moses),
     .optional = true},
    {"source.word_end", FERRY_KEY_TEXT, FERRY_WHEN_BPE, FIELD(ferry_tokenizer_config, word_end), .optional = true},
    {"source.fuse_unknown", FERRY_KEY_BOOL, FERRY_WHEN_BPE, FIELD(ferry_tokenizer_config, fuse_unknown),
     .optional = true},
    {"source.whole_words", FERRY_KEY_BOOL, FERRY_WHEN_BPE, FIELD(ferry_tokenizer_config, whole_words),
     .optional = true},
    {"target.bytes", FERRY_KEY_CHOICE, FERRY_WHEN_WORDS, FIELD(ferry_tokenizer_config, decoder_bytes),
     .choices = decoder_bytes_names, .optional = true},
    {"target.blanks", FERRY_KEY_CHOICE, FERRY_WHEN_WORDS, FIELD(ferry_tokenizer_config, decoder_blanks),
     .choices = decoder_blanks_names, .optional = true},
};

#define LANGUAGES(member) FIELD(ferry_model_languages, member)
#define FOR_EACH_LANGUAGE COUNT(ferry_model_languages, count), .matches = true
#define FOR_EACH_PROMPT COUNT(ferry_model_languages, prompt_count), .matches = true

/* A file has all of these keys or none. */
static const ferry_key language_keys[] = {
    {"names", FERRY_KEY_TEXTS, LANGUAGES(names), COUNT(ferry_model_languages, count), .max_count = FILE_LANGUAGES},
    {"roles", FERRY_KEY_IDS, LANGUAGES(roles), FOR_EACH_LANGUAGE, .min = FERRY_LANGUAGE_SOURCE,
     .max = FERRY_LANGUAGE_SOURCE | FERRY_LANGUAGE_TARGET},
    {"source_ids", FERRY_KEY_IDS, LANGUAGES(source_ids), FOR_EACH_LANGUAGE, .min = -1, .bound = FERRY_BOUND_SOURCE_ID},
    {"target_ids", FERRY_KEY_IDS, LANGUAGES(target_ids), FOR_EACH_LANGUAGE, .min = -1, .bound = FERRY_BOUND_TAG_ID},
    {"source_tag", FERRY_KEY_CHOICE, LANGUAGES(source_tag), .choices = ferry_tag_position_names},
    {"target_tag", FERRY_KEY_CHOICE, LANGUAGES(target_tag), .choices = ferry_tag_position_names},
    {"prompts", FERRY_KEY_TEXTS, LANGUAGES(prompts), COUNT(ferry_model_languages, prompt_count), .optional = true,
     .max_count = FILE_PROMPTS},
    {"prompt_sources", FERRY_KEY_IDS, LANGUAGES(prompt_sources), FOR_EACH_PROMPT, .min = -1,
     .bound = FERRY_BOUND_LANGUAGE},
    {"prompt_targets", FERRY_KEY_IDS, LANGUAGES(prompt_targets), FOR_EACH_PROMPT, .min = -1,
     .bound = FERRY_BOUND_LANGUAGE},
    {"default_source", FERRY_KEY_ID, LANGUAGES(default_source), .min = -1, .bound = FERRY_BOUND_LANGUAGE,
     .default_value = -1},
    {"default_target", FERRY_KEY_ID, LANGUAGES(default_target), .min = -1, .bound = FERRY_BOUND_LANGUAGE,
     .default_value = -1},
};

#define FOR_EACH_FILE COUNT(ferry_model_origin, file_count), .matches = true

static const ferry_key origin_keys[] = {
    {"kind", FERRY_KEY_TEXT, FIELD(ferry_model_origin, kind), .optional = true},
    {"name", FERRY_KEY_TEXT, FIELD(ferry_model_origin, name), .optional = true},
    {"licence", FERRY_KEY_TEXT, FERRY_WHEN_RECORDED, FIELD(ferry_model_origin, license), .optional = true},
    {"training", FERRY_KEY_TEXT, FERRY_WHEN_RECORDED, FIELD(ferry_model_origin, training), .optional = true},
    {"trained_length", FERRY_KEY_SIZE, FERRY_WHEN_RECORDED, FIELD(ferry_model_origin, trained_length),
     .max = FERRY_MAX_SIZE, .optional = true},
    {"trained_seed", FERRY_KEY_SIZE, FERRY_WHEN_RECORDED, FIELD(ferry_model_origin, trained_seed), .max = INT32_MAX,
     .optional = true},
    {"trained_tokens", FERRY_KEY_REAL, FERRY_WHEN_RECORDED, FIELD(ferry_model_origin, trained_tokens), .max = 1e18,
     .optional = true},
    {"files", FERRY_KEY_TEXTS, FIELD(ferry_model_origin, files), COUNT(ferry_model_origin, file_count),
     .optional = true},
    {"sizes", FERRY_KEY_SIZES, FIELD(ferry_model_origin, sizes), FOR_EACH_FILE},
    {"hashes", FERRY_KEY_TEXTS, FIELD(ferry_model_origin, hashes), FOR_EACH_FILE, .optional = true},
};

ferry_key_table ferry_schema_keys(ferry_key_group group)
{
    static const ferry_key_table tables[FERRY_KEY_GROUPS] = {
        [FERRY_KEYS_GRAPH] = {"ferry.", COUNT_KEYS(graph_keys)},
        [FERRY_KEYS_ENCODER] = {"ferry.encoder.", COUNT_KEYS(stack_keys)},
        [FERRY_KEYS_DECODER] = {"ferry.decoder.", COUNT_KEYS(stack_keys)},
        [FERRY_KEYS_BLOCK] = {"ferry.decoder.", COUNT_KEYS(block_keys)},
        [FERRY_KEYS_GENERATION] = {"ferry.", COUNT_KEYS(generation_keys)},
        [FERRY_KEYS_DECODING] = {"ferry.decoding.", COUNT_KEYS(decoding_keys)},
        [FERRY_KEYS_TOKENIZER_KIND] = {"ferry.tokenizer.", COUNT_KEYS(tokenizer_kind_keys)},
        [FERRY_KEYS_TOKENIZER] = {"ferry.tokenizer.", COUNT_KEYS(tokenizer_keys)},
        [FERRY_KEYS_LANGUAGES] = {"ferry.languages.", COUNT_KEYS(language_keys)},
        [FERRY_KEYS_ORIGIN] = {"ferry.origin.", COUNT_KEYS(origin_keys)},
    };
    return tables[group];
}

const ferry_key *ferry_schema_find(ferry_key_group group, const char *name)
{
    const ferry_key_table table = ferry_schema_keys(group);
    for (size_t i = 0; i < table.count; i++)
        if (strcmp(table.keys[i].name, name) == 0) return &table.keys[i];
    return NULL;
}

/* ---- values ---- */

void *ferry_schema_group(const ferry_schema_values *values, ferry_key_group group)
{
    switch (group) {
    case FERRY_KEYS_GRAPH:
    case FERRY_KEYS_BLOCK: return values->transformer;
    case FERRY_KEYS_ENCODER: return &values->transformer->encoder;
    case FERRY_KEYS_DECODER: return &values->transformer->decoder;
    case FERRY_KEYS_GENERATION: return values->generation;
    case FERRY_KEYS_DECODING: return &values->generation->decoding;
    case FERRY_KEYS_TOKENIZER_KIND:
    case FERRY_KEYS_TOKENIZER: return values->text;
    case FERRY_KEYS_LANGUAGES: return values->languages;
    case FERRY_KEYS_ORIGIN: return values->origin;
    case FERRY_KEY_GROUPS: break;
    }
    return NULL;
}

bool ferry_key_applies(const ferry_key *key, const ferry_schema_values *values)
{
    const ferry_tokenizer_config *text = values->text;
    switch (key->when) {
    case FERRY_WHEN_ALWAYS: return true;
    case FERRY_WHEN_NEVER: return false;
    case FERRY_WHEN_SHORTLIST: return values->shortlist;
    case FERRY_WHEN_SENTENCEPIECE: return text->kind == FERRY_TOKENIZER_SENTENCEPIECE;
    case FERRY_WHEN_UNIGRAM: return text->kind == FERRY_TOKENIZER_UNIGRAM;
    case FERRY_WHEN_WORDS: return text->kind == FERRY_TOKENIZER_UNIGRAM || text->kind == FERRY_TOKENIZER_BPE;
    case FERRY_WHEN_BPE: return text->kind == FERRY_TOKENIZER_BPE;
    case FERRY_WHEN_SUBWORDS: return text->kind >= FERRY_TOKENIZER_SUBWORD_NMT_1;
    case FERRY_WHEN_MERGES: return text->kind >= FERRY_TOKENIZER_BPE;
    case FERRY_WHEN_TWO_MERGES: return text->kind >= FERRY_TOKENIZER_BPE && text->source_merges != text->target_merges;
    case FERRY_WHEN_TWO_MODELS:
        return text->kind == FERRY_TOKENIZER_SENTENCEPIECE && !ferry_view_equal(text->source_model, text->target_model);
    case FERRY_WHEN_TWO_TABLES: break;
    case FERRY_WHEN_RECORDED:
        if (key->kind != FERRY_KEY_TEXT) return ferry_key_integer(key, values->origin) != 0;
        return ((const ferry_view *)(const void *)((const char *)values->origin + key->offset))->size > 0;
    }
    if (text->source_count != text->target_count) return true;
    for (size_t i = 0; i < (size_t)text->source_count; i++)
        if (!ferry_view_equal(ferry_string_table_at(text->source_pieces, i),
                              ferry_string_table_at(text->target_pieces, i)))
            return true;
    return false;
}

double ferry_key_max(const ferry_key *key, const ferry_schema_values *values)
{
    const ferry_stack *decoder = &values->transformer->decoder;
    const ferry_options *decoding = &values->generation->decoding.options;
    const int32_t source = values->transformer->encoder.vocab_size, target = decoder->vocab_size;
    switch (key->bound) {
    case FERRY_BOUND_FIXED: break;
    case FERRY_BOUND_SOURCE_ID: return source - 1;
    case FERRY_BOUND_TARGET_ID: return target - 1;
    case FERRY_BOUND_TARGET_COUNT: return target;
    case FERRY_BOUND_TAG_ID: return (values->languages->target_tag == FERRY_TAG_FIRST ? target : source) - 1;
    case FERRY_BOUND_LAYER: return decoder->layer_count - 1;
    case FERRY_BOUND_HEAD: return decoder->heads - 1;
    case FERRY_BOUND_HEADS: return decoder->heads;
    case FERRY_BOUND_LANGUAGE: return values->languages->count - 1;
    case FERRY_BOUND_BEAM: return decoding->sample || decoding->alternatives ? key->max : decoding->beam;
    }
    return key->max;
}

double ferry_key_max_in_file(const ferry_key *key, const ferry_schema_values *values)
{
    return key->file_max > 0 ? key->file_max : ferry_key_max(key, values);
}

bool ferry_key_admits(const ferry_key *key, double value, double max)
{
    return (key->above ? value > key->min : value >= key->min) && value <= max;
}

ferry_short_text ferry_key_range(const ferry_key *key, double max)
{
    if (!key->above) return ferry_format("a number from %.10g to %.10g", key->min, max);
    if (max == INFINITY && key->min == 0) return ferry_format("a positive number");
    return ferry_format("a number above %.10g, up to %.10g", key->min, max);
}

/* Fields are bool, int32_t or size_t; enumerations have the size of int32_t. */
static int64_t load(const void *field, size_t size)
{
    if (size == sizeof(bool)) return *(const bool *)field;
    return size == sizeof(int32_t) ? *(const int32_t *)field : (int64_t) * (const size_t *)field;
}

static void store(void *field, size_t size, int64_t value)
{
    if (size == sizeof(bool))
        *(bool *)field = value != 0;
    else if (size == sizeof(int32_t))
        *(int32_t *)field = (int32_t)value;
    else
        *(size_t *)field = (size_t)value;
}

int64_t ferry_key_integer(const ferry_key *key, const void *group)
{
    return load((const char *)group + key->offset, key->size);
}

void ferry_key_set_integer(const ferry_key *key, void *group, int64_t value)
{
    store((char *)group + key->offset, key->size, value);
}

double ferry_key_number(const ferry_key *key, const void *group)
{
    if (key->kind != FERRY_KEY_REAL) return (double)ferry_key_integer(key, group);
    return (double)*(const float *)(const void *)((const char *)group + key->offset);
}

ferry_short_text ferry_key_value(const ferry_key *key, const void *group)
{
    const double number = ferry_key_number(key, group);
    if (key->kind == FERRY_KEY_CHOICE) return ferry_format("%s", key->choices[(int)number]);
    /* 6000000, not 6e+06 */
    return ferry_format(key->kind != FERRY_KEY_REAL || number == rint(number) ? "%.0f" : "%g", number);
}

size_t ferry_key_count(const ferry_key *key, const void *group)
{
    return (size_t)load((const char *)group + key->count_offset, key->count_size);
}

void ferry_key_set_count(const ferry_key *key, void *group, size_t count)
{
    store((char *)group + key->count_offset, key->count_size, (int64_t)count);
}

void ferry_schema_defaults(const ferry_schema_values *values)
{
    for (ferry_key_group group = 0; group < FERRY_KEY_GROUPS; group++) {
        const ferry_key_table table = ferry_schema_keys(group);
        void *into = ferry_schema_group(values, group);
        for (const ferry_key *key = table.keys; key < table.keys + table.count; key++) {
            const float real = (float)key->default_value;
            if (key->kind == FERRY_KEY_REAL)
                memcpy((char *)into + key->offset, &real, sizeof real);
            else if (key->kind <= FERRY_KEY_CHOICE)
                ferry_key_set_integer(key, into, (int64_t)key->default_value);
        }
    }
    values->generation->decoding.options.size = sizeof(ferry_options);
    values->generation->decoding.search.size = sizeof(ferry_search_options);
}

/* ---- tensors ---- */

#define LAYER(member) offsetof(ferry_layer, member)

const ferry_tensor_row ferry_layer_tensors[] = {
    {"attn_q", FERRY_TENSOR_MATRIX, FERRY_TENSOR_ATTENTION, 'A', 'D', LAYER(self.q)},
    {"attn_k", FERRY_TENSOR_MATRIX, FERRY_TENSOR_ATTENTION, 'A', 'D', LAYER(self.k)},
    {"attn_v", FERRY_TENSOR_MATRIX, FERRY_TENSOR_ATTENTION, 'A', 'D', LAYER(self.v)},
    {"attn_o", FERRY_TENSOR_MATRIX, FERRY_TENSOR_ATTENTION, 'D', 'A', LAYER(self.out)},
    {"ssru_input", FERRY_TENSOR_UNBIASED, FERRY_TENSOR_SSRU, 'D', 'D', LAYER(ssru.input)},
    {"ssru_forget", FERRY_TENSOR_MATRIX, FERRY_TENSOR_SSRU, 'D', 'D', LAYER(ssru.forget)},
    {"attn_norm", FERRY_TENSOR_NORM, FERRY_TENSOR_ALWAYS, 'D', 0, LAYER(self_norm)},
    {"cross_attn_q", FERRY_TENSOR_MATRIX, FERRY_TENSOR_CROSS, 'A', 'D', LAYER(cross.q)},
    {"cross_attn_k", FERRY_TENSOR_MATRIX, FERRY_TENSOR_CROSS, 'A', 'D', LAYER(cross.k)},
    {"cross_attn_v", FERRY_TENSOR_MATRIX, FERRY_TENSOR_CROSS, 'A', 'D', LAYER(cross.v)},
    {"cross_attn_o", FERRY_TENSOR_MATRIX, FERRY_TENSOR_CROSS, 'D', 'A', LAYER(cross.out)},
    {"cross_attn_norm", FERRY_TENSOR_NORM, FERRY_TENSOR_CROSS, 'D', 0, LAYER(cross_norm)},
    {"ffn_up", FERRY_TENSOR_MATRIX, FERRY_TENSOR_ALWAYS, 'F', 'D', LAYER(ffn_up)},
    {"ffn_gate", FERRY_TENSOR_MATRIX, FERRY_TENSOR_GATED, 'F', 'D', LAYER(ffn_gate)},
    {"ffn_down", FERRY_TENSOR_MATRIX, FERRY_TENSOR_ALWAYS, 'D', 'F', LAYER(ffn_down)},
    {"ffn_norm", FERRY_TENSOR_NORM, FERRY_TENSOR_ALWAYS, 'D', 0, LAYER(ffn_norm)},
    {0},
};

const ferry_tensor_row ferry_stack_tensors[] = {
    {"embd_norm", FERRY_TENSOR_NORM, FERRY_TENSOR_EMBEDDING_NORM, 'D', 0, offsetof(ferry_stack, embedding_norm)},
    {"output_norm", FERRY_TENSOR_NORM, FERRY_TENSOR_FINAL_NORM, 'D', 0, offsetof(ferry_stack, final_norm)},
    {0},
};

bool ferry_tensor_applies(const ferry_tensor_row *row, const ferry_transformer *model, const ferry_stack *stack)
{
    const bool decoder = stack->causal, ssru = decoder && model->ssru;
    switch (row->when) {
    case FERRY_TENSOR_ALWAYS: return true;
    case FERRY_TENSOR_ATTENTION: return !ssru;
    case FERRY_TENSOR_SSRU: return ssru;
    case FERRY_TENSOR_CROSS: return decoder;
    case FERRY_TENSOR_GATED: return stack->gated;
    case FERRY_TENSOR_EMBEDDING_NORM: return stack->has_embedding_norm;
    case FERRY_TENSOR_FINAL_NORM: return stack->has_final_norm;
    }
    return false;
}

int32_t ferry_tensor_size(char letter, const ferry_transformer *model, const ferry_stack *stack)
{
    switch (letter) {
    case 'A': return stack->heads * stack->head_width;
    case 'F': return stack->ffn_width;
    default: return model->d_model;
    }
}

void *ferry_tensor_target(const ferry_tensor_row *row, void *owner)
{
    return (char *)owner + row->offset;
}
