/* CTranslate2's vocabularies and tokens; segmentation, and sometimes the end of sentence, are left to its callers. */
#include <string.h>

#include "ctranslate2.h"
#include "models/plan/plan_tensors.h"
#include "models/text/language_tags.h"
#include "models/text/vocabularies.h"
#include "models/families/families.h"

static int32_t find_token(const ferry_ct2_vocabulary *vocabulary, ferry_view token)
{
    for (int32_t i = 0; i < vocabulary->count; i++)
        if (ferry_view_equal(vocabulary->tokens[i], token)) return i;
    return -1;
}

/* Allocates `count` + 1 tokens. */
static ferry_status allocate_tokens(ferry_import_plan *plan, size_t count, ferry_ct2_vocabulary *vocabulary,
                                    ferry_error *error)
{
    vocabulary->count = (int32_t)count;
    if (count < FERRY_MAX_VOCABULARY)
        return ferry_import_pieces(plan, vocabulary->count + 1, &vocabulary->tokens, error);
    return ferry_fail(error, FERRY_ERROR_LIMIT, "%s: a vocabulary of %zu tokens", plan->source->path, count);
}

/* An array of texts; jansson keeps them. */
static ferry_status read_json_tokens(ferry_import_plan *plan, ferry_view text, ferry_ct2_vocabulary *vocabulary,
                                     ferry_error *error)
{
    size_t i;
    json_t *array, *token;
    FERRY_TRY(ferry_json_parse(text, vocabulary->file, JSON_ARRAY, plan->account, &array, error));
    FERRY_TRY(ferry_import_keep_json(plan, vocabulary->file, array, error));
    FERRY_TRY(allocate_tokens(plan, json_array_size(array), vocabulary, error));
    json_array_foreach (array, i, token) {
        if (!json_is_string(token) || strlen(json_string_value(token)) != json_string_length(token)) {
            return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: expected texts, found something else at %zu",
                              vocabulary->file, i);
        }
        vocabulary->tokens[i] = (ferry_view){json_string_value(token), json_string_length(token)};
    }
    return FERRY_OK;
}

/* Whether ferry_next_line took a carriage return off the line. */
static bool had_return(ferry_view text, ferry_view line)
{
    const char *end = line.data + line.size;
    return end < text.data + text.size && *end == '\r';
}

/* A carriage return is part of a token, unless every line has one. */
static ferry_status read_text_tokens(ferry_import_plan *plan, ferry_view text, ferry_ct2_vocabulary *vocabulary,
                                     ferry_error *error)
{
    ferry_view line;
    ferry_cursor counted = {(const uint8_t *)text.data, text.size, 0}, cursor = counted;
    size_t count = 0, returns = 0;
    for (; ferry_next_line(&counted, &line); count++) returns += had_return(text, line);
    FERRY_TRY(allocate_tokens(plan, count, vocabulary, error));
    for (ferry_view *token = vocabulary->tokens; ferry_next_line(&cursor, token); token++)
        token->size += returns < count && had_return(text, *token);
    return FERRY_OK;
}

/* <folder><stem>.json, else .txt; vocabulary->tokens stays NULL when there is neither. */
static ferry_status read_vocabulary(const ferry_ctranslate2 *model, const char *stem, ferry_ct2_vocabulary *vocabulary,
                                    ferry_error *error)
{
    ferry_import_plan *plan = model->plan;
    ferry_view text;
    *vocabulary = (ferry_ct2_vocabulary){.tokens = NULL};
    ferry_short_text name = ferry_format("%s%s.json", model->folder, stem);
    const bool json = ferry_source_has(plan->source, name.text);
    if (!json) name = ferry_format("%s%s.txt", model->folder, stem);
    if (!ferry_source_has(plan->source, name.text)) return FERRY_OK;
    vocabulary->file = ferry_source_label(plan->source, name.text);
    FERRY_TRY(ferry_source_map(plan->source, name.text, &text, error));
    FERRY_TRY(json ? read_json_tokens(plan, text, vocabulary, error) : read_text_tokens(plan, text, vocabulary, error));
    if (find_token(vocabulary, model->unk) < 0) vocabulary->tokens[vocabulary->count++] = model->unk;
    return FERRY_OK;
}

static ferry_status read_vocabularies(ferry_ctranslate2 *model, ferry_error *error)
{
    FERRY_TRY(read_vocabulary(model, "shared_vocabulary", &model->target, error));
    model->source = model->target;
    if (model->target.tokens != NULL) return FERRY_OK;
    FERRY_TRY(read_vocabulary(model, "target_vocabulary", &model->target, error));
    FERRY_TRY(read_vocabulary(model, "source_vocabulary", &model->source, error));
    if (model->source.tokens != NULL) return FERRY_OK;
    FERRY_TRY(read_vocabulary(model, "source_1_vocabulary", &model->source, error));
    if (model->source.tokens != NULL)
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: source factors are not supported", model->source.file);
    return ferry_fail(error, FERRY_ERROR_FORMAT,
                      model->target.tokens != NULL ? "%s: expected source_vocabulary.json or .txt beside the target's"
                                                   : "%s: expected shared_vocabulary.json or .txt beside model.bin, or "
                                                     "source_vocabulary and target_vocabulary",
                      model->plan->source->path);
}

static ferry_status check_size(const ferry_ct2_vocabulary *vocabulary, int32_t rows, ferry_error *error)
{
    if (vocabulary->count == rows) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: %d tokens (with the unknown one) for %d rows of embeddings",
                      vocabulary->file, (int)vocabulary->count, (int)rows);
}

/* ---- tokens with a meaning ---- */

ferry_status ferry_ct2_tokens(ferry_ctranslate2 *model, ferry_error *error)
{
    static const char *const names[] = {"unk_token", "bos_token", "eos_token", "decoder_start_token"};
    ferry_view *const tokens[] = {&model->unk, &model->bos, &model->eos, &model->start};
    const char *texts[4] = {NULL};
    const ferry_json_key keys[] = {{names[0], .text = &texts[0]},
                                   {names[1], .text = &texts[1]},
                                   {names[2], .text = &texts[2]},
                                   {names[3], .text = &texts[3]},
                                   {"add_source_bos", .flag = &model->source_bos},
                                   {"add_source_eos", .flag = &model->source_eos}};
    model->unk = ferry_text_view("<unk>");
    model->bos = model->start = ferry_text_view("<s>");
    model->eos = ferry_text_view("</s>");
    if (model->header.version < FERRY_CTRANSLATE2_CONFIG) {
        for (size_t i = 0; i < 3; i++) { /* variables, vectors of the token's bytes */
            const ferry_weights_entry *entry = ferry_import_find(model->plan, "", names[i]);
            if (entry != NULL && entry->tensor.type == FERRY_I8)
                *tokens[i] = (ferry_view){entry->tensor.data, entry->tensor.bytes};
        }
        model->source_bos = ferry_ct2_number(model, "", "with_source_bos", 0) != 0;
        model->source_eos = ferry_ct2_number(model, "", "with_source_eos", 0) != 0;
        model->start = ferry_ct2_number(model, "", "with_target_bos", 1) != 0 ? model->bos : model->eos;
        if (ferry_ct2_number(model, "", "user_decoder_start_tokens", 0) != 0)
            return ferry_ct2_fail(model, "user_decoder_start_tokens",
                                  "a first decoder input that the caller chooses is not supported", error);
        return read_vocabularies(model, error);
    }
    if (json_is_null(json_object_get(model->config.object, names[3]))) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                          "%s: 'decoder_start_token' null: a first decoder input that the caller chooses is not "
                          "supported",
                          model->config.file);
    }
    FERRY_TRY(ferry_json_read(model->config, keys, 6, false, error));
    for (size_t i = 0; i < 4; i++)
        if (texts[i] != NULL) *tokens[i] = ferry_text_view(texts[i]);
    return read_vocabularies(model, error);
}

/* ---- ids ---- */

static ferry_status require_token(const ferry_ct2_vocabulary *vocabulary, ferry_view token, const char *what,
                                  int32_t *id, ferry_error *error)
{
    *id = find_token(vocabulary, token);
    if (*id >= 0) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "%s: %s '%s' is not in the vocabulary", vocabulary->file, what,
                      ferry_printable_view(token).text);
}

/* Ids of the graph, and target ids that have no text. */
static ferry_status set_ids(const ferry_ctranslate2 *model, ferry_error *error)
{
    static const char *const silent[] = {"<s>", "</s>", "<pad>", "<blank>"};
    const ferry_ct2_vocabulary *target = &model->target;
    ferry_generation *ids = &model->plan->generation;
    int32_t eos;
    FERRY_TRY(require_token(target, model->eos, "the end of sentence", &eos, error));
    FERRY_TRY(ferry_import_ids(model->plan, &eos, 1, &ids->eos_ids, &ids->eos_count, error));
    ids->start_id = -1;
    if (!model->zero_start)
        FERRY_TRY(require_token(target, model->start, "the decoder's first input", &ids->start_id, error));
    int32_t special[8] = {eos, find_token(target, model->unk), find_token(target, model->bos), ids->start_id};
    for (size_t i = 0; i < 4; i++) special[4 + i] = find_token(target, ferry_text_view(silent[i]));
    return ferry_import_special(model->plan, special, 8, error);
}

/* ---- segmentation ---- */

/* `closes`: the caller of CTranslate2 appended the end of sentence, as Hugging Face's tokenizers do. */
static ferry_status read_segmenters(const ferry_ctranslate2 *model, bool *closes, ferry_error *error)
{
    static const struct {
        const char *source, *target;
        bool huggingface;
    } names[] = {{"source.spm", "target.spm", true},
                 {"sentencepiece.bpe.model", NULL, true},
                 {"spiece.model", NULL, true},
                 {"sentencepiece.model", NULL, false}};
    ferry_import_plan *plan = model->plan;
    const char *const folders[] = {"", model->folder};
    *closes = false;
    for (size_t i = 0; i < 2 * sizeof names / sizeof names[0]; i++) {
        const ferry_short_text source = ferry_ct2_join(folders[i % 2], names[i / 2].source);
        ferry_short_text target = {""};
        if (!ferry_source_has(plan->source, source.text)) continue;
        const bool two = names[i / 2].target != NULL;
        if (two) target = ferry_ct2_join(folders[i % 2], names[i / 2].target);
        if (two && !ferry_source_has(plan->source, target.text)) target.text[0] = '\0';
        *closes = names[i / 2].huggingface;
        return ferry_import_segmenters(plan, source.text, two ? target.text : NULL, error);
    }
    return FERRY_OK;
}

/* ---- languages ---- */

/* "deu_Latn" (NLLB), "__de__" (M2M-100), "de_DE" (mBART). */
static bool is_language(ferry_view token)
{
    static const char *const forms[] = {"aaa_Aaaa", "__aa__", "__aaa__", "aa_AA"};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        if (ferry_import_has_form(token, forms[i])) return true;
    return false;
}

/* Tags of languages in a shared vocabulary: the source's before its text, the target's forced as the first token; they
 * have no text. */
static ferry_status read_tags(const ferry_ctranslate2 *model, ferry_error *error)
{
    ferry_import_plan *plan = model->plan;
    ferry_import_tags list = {NULL, NULL, 0};
    const char *class = "";
    ferry_json tokenizer;
    const int32_t count = model->source.tokens == model->target.tokens ? model->source.count : 0;
    for (int32_t i = 0; i < count; i++) {
        const ferry_view token = model->source.tokens[i];
        if (is_language(token)) FERRY_TRY(ferry_import_add_tag(plan, &list, token, i, error));
    }
    if (list.count < 2) return FERRY_OK;
    FERRY_TRY(ferry_import_special(plan, list.ids, list.count, error));
    FERRY_TRY(ferry_import_optional_json(plan, "tokenizer_config.json", &tokenizer, error));
    FERRY_TRY(ferry_json_text(tokenizer, "tokenizer_class", &class, error));
    return ferry_import_is_small100(plan, class)
               ? ferry_import_languages(plan, &list, FERRY_TAG_NONE, FERRY_TAG_PREFIX, error)
               : ferry_import_languages(plan, &list, FERRY_TAG_PREFIX, FERRY_TAG_FIRST, error);
}

/* ---- Argos packages ---- */

/* Without a SentencePiece model: Moses' words and subword-nmt's merges. */
static ferry_status read_package(const ferry_ctranslate2 *model, ferry_json metadata, ferry_error *error)
{
    static const char merges[] = "bpe.model";
    ferry_import_plan *plan = model->plan;
    const char *from = NULL, *to = NULL, *prefix = "";
    const ferry_json_key codes[] = {{"from_code", .text = &from}, {"to_code", .text = &to}};
    int32_t id;
    FERRY_TRY(ferry_json_read(metadata, codes, 2, true, error));
    FERRY_TRY(ferry_json_text(metadata, "target_prefix", &prefix, error));
    const ferry_view source = ferry_text_view(from), target = ferry_text_view(to);
    if (plan->languages.count == 0) FERRY_TRY(ferry_import_language_pair(plan, source, target, error));
    if (ferry_source_has(plan->source, merges) && !ferry_source_has(plan->source, "sentencepiece.model")) {
        plan->text.source_moses = source;
        plan->text.target_moses = target;
        FERRY_TRY(ferry_import_merges(plan, merges, ferry_source_label(plan->source, merges), false, error));
    }
    if (prefix[0] == 0) return FERRY_OK;
    FERRY_TRY(require_token(&model->target, ferry_text_view(prefix), "the target prefix", &id, error));
    plan->generation.decoding.search.forced_first_id = id;
    return ferry_import_special(plan, &id, 1, error);
}

ferry_status ferry_ct2_text(const ferry_ctranslate2 *model, ferry_json metadata, ferry_error *error)
{
    ferry_import_plan *plan = model->plan;
    ferry_arena *arena = &plan->arena;
    ferry_tokenizer_config *text = &plan->text;
    const bool opennmt = metadata.object != NULL || ferry_view_is(model->start, "<s>");
    bool closes;
    FERRY_TRY(check_size(&model->source, plan->model.encoder.vocab_size, error));
    FERRY_TRY(check_size(&model->target, plan->model.decoder.vocab_size, error));
    plan->vocabulary_files[0] = model->source.file;
    plan->vocabulary_files[1] = model->target.file;
    text->present = true;
    text->source_count = model->source.count;
    text->target_count = model->target.count;
    FERRY_TRY(
        ferry_string_table_join(arena, model->source.tokens, (size_t)text->source_count, &text->source_pieces, error));
    text->target_pieces = text->source_pieces;
    if (model->source.tokens != model->target.tokens)
        FERRY_TRY(ferry_string_table_join(arena, model->target.tokens, (size_t)text->target_count, &text->target_pieces,
                                          error));
    text->source_unk_id = find_token(&model->source, model->unk);
    FERRY_TRY(set_ids(model, error));
    FERRY_TRY(read_tags(model, error));
    if (metadata.object != NULL) FERRY_TRY(read_package(model, metadata, error));
    /* ">>deu<<" (OPUS-MT), which is a piece of its own before a line, or "<2de>" (MADLAD), which is text before it. */
    if (plan->languages.count == 0)
        FERRY_TRY(ferry_import_tag_pieces(plan, text->source_pieces, text->source_count, &text->leading_tag, error));
    if (plan->languages.count == 0) FERRY_TRY(ferry_import_madlad_tags(plan, error));
    FERRY_TRY(read_segmenters(model, &closes, error));
    /* OpenNMT's decoders begin with <s>, and its sources have no end unless add_source_eos says so. */
    plan->closing_id = opennmt ? -1 : find_token(&model->source, model->eos);
    /* Ids before and after those of a source line. */
    int32_t id;
    if (model->source_bos) {
        FERRY_TRY(require_token(&model->source, model->bos, "the beginning of sentence", &id, error));
        FERRY_TRY(ferry_import_ids(plan, &id, 1, &text->prefix_ids, &text->prefix_count, error));
    }
    if (!model->source_eos && !closes) return FERRY_OK;
    FERRY_TRY(require_token(&model->source, model->eos, "the end of sentence", &id, error));
    return ferry_import_ids(plan, &id, 1, &text->suffix_ids, &text->suffix_count, error);
}
