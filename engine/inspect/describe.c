/* The description of a model. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/file_system.h"
#include "base/printable.h"
#include "engine/ferry_inspect.h"
#include "engine/file/schema.h"
#include "engine/graph/state.h"
#include "engine/api/model.h"

static double megabytes(size_t bytes)
{
    return (double)bytes / 1e6;
}

/* The memory of positions, and what they add to the arithmetic of `step`. */
static void print_cost(FILE *out, const ferry_position *position, const char *step)
{
    ferry_position_cost cost = {0};
    if (position->scheme->cost != NULL) position->scheme->cost(position, &cost);
    fputs("  cost:", out);
    if (cost.model_bytes == 0 && cost.position_bytes == 0) fputs(" nothing kept", out);
    if (cost.model_bytes >= 1000)
        fprintf(out, " %.1f kB in the model", (double)cost.model_bytes / 1e3);
    else if (cost.model_bytes > 0)
        fprintf(out, " %" PRId64 " bytes in the model", cost.model_bytes);
    if (cost.position_bytes > 0)
        fprintf(out, "%s %" PRId64 " bytes for each position in each thread", cost.model_bytes > 0 ? "," : "",
                cost.position_bytes);
    fprintf(out, "; %s adds %" PRId64 " multiply-adds and %" PRId64 " for each key\n", step, cost.token_operations,
            cost.key_operations);
}

/* Only what is unusual: pre-norm stacks usually end with a norm, post-norm stacks without. */
static const char *end_norm(const ferry_stack *stack)
{
    if (stack->pre_norm == (stack->final_norm.weight != NULL)) return "";
    return stack->pre_norm ? ", no norm at the end" : ", a norm at the end";
}

static void print_stack(FILE *out, const char *name, const ferry_stack *stack, bool ssru)
{
    fprintf(out, "%s: %d layers%s, %d heads of width %d, ffn %d (%s%s), %s-%snorm (eps %g)%s%s\n", name,
            (int)stack->layer_count, ssru ? " of SSRU and cross-attention" : "", (int)stack->heads,
            (int)stack->head_width, (int)stack->ffn_width, stack->gated ? "gated " : "",
            ferry_activation_names[stack->activation], stack->pre_norm ? "pre" : "post",
            stack->norm == FERRY_RMS_NORM ? "RMS-" : "", (double)stack->norm_eps,
            stack->embedding_norm.weight != NULL ? ", embeddings normalized" : "", end_norm(stack));
    const ferry_name parameters = ferry_position_parameters(&stack->position);
    fprintf(out, "  positions: %s%s%s", stack->position.scheme->name, parameters.text[0] != '\0' ? ", " : "",
            parameters.text);
    if (stack->position.limit > 0)
        fprintf(out, "; at most %d tokens\n", (int)stack->position.limit);
    else
        fputs("; any length\n", out);
    print_cost(out, &stack->position, stack->position.stack.causal ? "a decoder step" : "a token");
}

static void print_memory(FILE *out, const ferry_model_file *file)
{
    const ferry_transformer *transformer = &file->transformer;
    ferry_cache cache;
    ferry_cache_init(&cache, transformer->decoder.layer_count, transformer->decoder.heads,
                     transformer->decoder.head_width);
    fprintf(out, "memory: %.1f MB file, mapped; %.1f MB for widened matrices; keys and values %.1f kB for each %stoken",
            megabytes(file->gguf.bytes.size), megabytes(file->widened_bytes),
            (double)((size_t)cache.layout.layers * cache.layout.layer_floats * sizeof(float)) / FERRY_BLOCK_POSITIONS /
                1e3,
            transformer->ssru ? "source " : "");
    if (transformer->ssru) {
        ferry_cache_init_states(&cache, transformer->decoder.layer_count, transformer->d_model);
        fprintf(out, "; states %.1f kB for each hypothesis",
                (double)((size_t)cache.layout.layers * cache.layout.layer_floats * sizeof(float)) / 1e3);
    }
    fputc('\n', out);
}

/* Codes of one kind of scale. */
typedef struct code_count {
    const char *meaning;
    int matrices;
} code_count;

static void count_codes(const ferry_matrix *matrix, code_count *counts)
{
    if (matrix->codes == NULL) return;
    counts[matrix->scales != NULL ? 0 : 1].matrices++;
    if (matrix->input_multiplier > 0) counts[2].matrices++;
}

static void count_layers(const ferry_transformer *model, const ferry_stack *stack, code_count *counts)
{
    size_t rows;
    const ferry_tensor_row *row = ferry_schema_layer_tensors(&rows);
    for (const ferry_tensor_row *end = row + rows; row < end; row++) {
        if (row->form == FERRY_TENSOR_NORM || !ferry_tensor_applies(row, model, stack)) continue;
        for (int32_t i = 0; i < stack->layer_count; i++)
            count_codes(ferry_tensor_target(row, &stack->layers[i]), counts);
    }
}

static bool same_weights(const ferry_matrix *a, const ferry_matrix *b)
{
    return a->panels == b->panels && a->codes == b->codes;
}

/* How many matrices are int8, and how they are scaled. */
static void print_codes(FILE *out, const ferry_transformer *transformer)
{
    code_count counts[] = {{"with a scale for each row", 0},
                           {"with one multiplier", 0},
                           {"with a multiplier for their inputs", 0}};
    count_layers(transformer, &transformer->encoder, counts);
    count_layers(transformer, &transformer->decoder, counts);
    count_codes(&transformer->decoder.embedding, counts);
    if (!same_weights(&transformer->encoder.embedding, &transformer->decoder.embedding))
        count_codes(&transformer->encoder.embedding, counts);
    if (!same_weights(&transformer->output, &transformer->decoder.embedding)) count_codes(&transformer->output, counts);
    if (counts[0].matrices + counts[1].matrices == 0) return;
    fprintf(out, "int8: %d matrices", counts[0].matrices + counts[1].matrices);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        if (counts[i].matrices > 0) fprintf(out, ", %d %s", counts[i].matrices, counts[i].meaning);
    fprintf(out, "; other inputs are quantized by the %s\n", transformer->sentence_inputs ? "sentence" : "row");
}

static void print_alignment(FILE *out, const ferry_generation *generation)
{
    const int layer = generation->alignment_layer, head = generation->alignment_head;
    const int last = head + generation->alignment_heads - 1;
    if (layer < 0 || head < 0) return;
    if (last == head)
        fprintf(out, "alignment: layer %d, head %d\n", layer, head);
    else
        fprintf(out, "alignment: layer %d, heads %d to %d\n", layer, head, last);
}

static void print_shortlist(FILE *out, const ferry_transformer *transformer, const ferry_generation *generation)
{
    const ferry_shortlist *shortlist = &generation->shortlist;
    if (shortlist->offsets == NULL) return;
    fprintf(out, "shortlist: the first %d words and %.1f more for each source word%s%s\n", (int)shortlist->first,
            (double)shortlist->offsets[transformer->encoder.vocab_size] / (double)transformer->encoder.vocab_size,
            shortlist->shared ? ", and the source's own" : "",
            generation->decoding.options.shortlist ? "" : "; off by default");
}

static void print_ids(FILE *out, const char *name, const int32_t *ids, int32_t count)
{
    if (count == 0) return;
    fprintf(out, ", %s", name);
    for (int32_t i = 0; i < count && i < 8; i++) fprintf(out, " %d", (int)ids[i]);
    if (count > 8) fprintf(out, " … (%d)", (int)count);
}

/* "beam 4": the key's words and its value. */
static void print_key(FILE *out, const char *before, const ferry_key *key, const void *group)
{
    fputs(before, out);
    for (const char *letter = key->name; *letter != '\0'; letter++) fputc(*letter == '_' ? ' ' : *letter, out);
    fprintf(out, " %s", ferry_key_value(key, group).text);
}

static bool is_usual(const ferry_key *key, const void *group)
{
    float real;
    memcpy(&real, (const char *)group + key->offset, sizeof real);
    return key->kind == FERRY_KEY_REAL ? real == (float)key->usual
                                       : (double)ferry_key_integer(key, group) == key->usual;
}

/* Choices, beam, length penalty, and what differs from the usual. */
static void print_decoding(FILE *out, const ferry_decoding *decoding)
{
    const ferry_key_table table = ferry_schema_keys(FERRY_KEYS_DECODING);
    const char *before = "decoding: ";
    for (const ferry_key *key = table.keys; key < table.keys + table.count; key++) {
        const bool always = key->kind == FERRY_KEY_CHOICE || key->offset == offsetof(ferry_decoding, options.beam) ||
                            key->offset == offsetof(ferry_decoding, options.length_penalty);
        if (key->when == FERRY_WHEN_NEVER || key->kind == FERRY_KEY_IDS) continue;
        if (!always && is_usual(key, decoding)) continue;
        print_key(out, before, key, decoding);
        before = ", ";
    }
    const ferry_options *options = &decoding->options;
    if (options->max_length == 0)
        fprintf(out, ", at most %g × source + %d tokens", (double)options->length_factor, (int)options->length_extra);
    print_ids(out, "never", decoding->search.suppressed_ids, (int32_t)decoding->search.suppressed_count);
    fputc('\n', out);
}

static void print_text(FILE *out, const ferry_model_text *text)
{
    if (!text->present) {
        fputs("text: no tokenizer; the model takes and gives ids only\n", out);
        return;
    }
    const ferry_view source = text->source_model, target = text->target_model;
    const bool one_model = source.data == target.data;
    const bool one_table = text->source_pieces == text->target_pieces;
    if (text->kind >= FERRY_TOKENIZER_BPE)
        fprintf(out, "text: byte pair encoding (%s), %d merges", ferry_tokenizer_names[text->kind],
                (int)text->source_merge_count);
    else if (text->kind == FERRY_TOKENIZER_UNIGRAM)
        fputs("text: words, a Unigram model", out);
    else if (source.size == 0)
        fputs("text: pieces with blanks between them", out);
    else
        fprintf(out, "text: SentencePiece, %s (%.0f kB)",
                one_model          ? "one model for both sides"
                : target.size == 0 ? "a model for the source"
                                   : "a model for each side",
                (double)(source.size + (one_model ? 0 : target.size)) / 1e3);
    fprintf(out, ", %s%s%s%s\n", one_table ? "one vocabulary" : "two vocabularies",
            text->opus_punctuation ? "; punctuation is cleaned first" : "",
            text->source_moses.size > 0 ? "; Moses' words" : "",
            text->leading_tag ? "; a leading >>tag<< is one piece" : "");
}

/* The family's own tag, which comes before other names. */
static ferry_view tag_of(ferry_view names)
{
    size_t size = 0;
    while (size < names.size && names.data[size] != ' ') size++;
    return (ferry_view){names.data, size};
}

static void print_default(FILE *out, const ferry_model_languages *languages, const char *name, int32_t index)
{
    if (index < 0) return;
    fprintf(out, "; %s ", name);
    ferry_printable_write(out, tag_of(ferry_texts_at(languages->names, (size_t)index)));
    fputs(" by default", out);
}

static void print_languages(FILE *out, const ferry_model_languages *languages)
{
    int32_t sources = 0, targets = 0;
    if (languages->count == 0) return;
    for (int32_t i = 0; i < languages->count; i++) {
        sources += (languages->roles[i] & FERRY_LANGUAGE_SOURCE) != 0;
        targets += (languages->roles[i] & FERRY_LANGUAGE_TARGET) != 0;
    }
    fprintf(out, "languages: from %d (tag: %s), into %d (tag: %s)", (int)sources,
            ferry_tag_position_names[languages->source_tag], (int)targets,
            ferry_tag_position_names[languages->target_tag]);
    if (languages->prompt_count > 0) fprintf(out, "; %d prompts", (int)languages->prompt_count);
    print_default(out, languages, "from", languages->default_source);
    print_default(out, languages, "into", languages->default_target);
    fputc('\n', out);
}

static void print_origin(FILE *out, const ferry_model_origin *origin)
{
    if (origin->kind.size == 0) return;
    fputs("origin: ", out);
    ferry_printable_write(out, origin->kind);
    if (origin->name.size > 0) {
        fputs(" '", out);
        ferry_printable_write(out, origin->name);
        fputc('\'', out);
    }
    for (size_t i = 0; i < origin->file_count; i++) {
        fputs(i == 0 ? ": " : ", ", out);
        ferry_printable_write(out, ferry_texts_at(origin->files, i));
    }
    fputc('\n', out);
    for (size_t i = 0; origin->hashes != NULL && i < origin->file_count; i++) {
        const ferry_view hash = ferry_texts_at(origin->hashes, i);
        fprintf(out, "  SHA-256 %.*s  ", (int)hash.size, hash.data); /* digits: checked */
        ferry_printable_write(out, ferry_texts_at(origin->files, i));
        fputc('\n', out);
    }
}

/* What the file records, if it does. Further lines of it are indented: no line of a license looks like one of ours. */
static void print_info(FILE *out, const ferry_model *model, const char *before, const char *key, const char *after)
{
    const char *rest = ferry_model_info(model, key);
    if (rest[0] == '\0') return;
    fputs(before, out);
    while (*rest != '\0') {
        const size_t size = strcspn(rest, "\n");
        ferry_printable_write(out, (ferry_view){rest, size});
        rest += size + strspn(rest + size, "\n");
        if (*rest != '\0') fputs("\n    ", out);
    }
    fprintf(out, "%s\n", after);
}

static void print_model(FILE *out, const ferry_model *model)
{
    const ferry_model_file *file = &model->file;
    const ferry_transformer *transformer = &file->transformer;
    const ferry_generation *generation = &file->generation;
    ferry_printable_write(out, file->name);
    fprintf(out, ": encoder-decoder Transformer, %.2f million parameters as %s\n", (double)file->parameters / 1e6,
            ferry_type_name(file->type));
    fprintf(out, "d_model %d; embeddings × %g; vocabulary %d → %d%s%s", (int)transformer->d_model,
            (double)transformer->embedding_scale, (int)transformer->encoder.vocab_size,
            (int)transformer->decoder.vocab_size,
            same_weights(&transformer->encoder.embedding, &transformer->decoder.embedding)
                ? "; one embedding for both sides"
                : "",
            same_weights(&transformer->output, &transformer->decoder.embedding) ? "; output matrix = target embedding"
                                                                                : "");
    if (transformer->output_scale != 1.0f) fprintf(out, "; output × %g", (double)transformer->output_scale);
    fputc('\n', out);
    print_codes(out, transformer);
    print_stack(out, "encoder", &transformer->encoder, false);
    print_stack(out, "decoder", &transformer->decoder, transformer->ssru);
    print_alignment(out, generation);
    print_shortlist(out, transformer, generation);
    print_text(out, &file->text);
    print_languages(out, &file->text.languages);
    fputs("ids: start ", out);
    if (generation->start_id < 0)
        fputs("with a row of zeros", out);
    else
        fprintf(out, "%d", (int)generation->start_id);
    fprintf(out, ", pad %d", (int)generation->pad_id);
    print_ids(out, "end", generation->eos_ids, generation->eos_count);
    fputc('\n', out);
    print_decoding(out, &generation->decoding);
    print_memory(out, file);
    print_origin(out, &file->origin);
    print_info(out, model, "training: ", "training", "");
    print_info(out, model, "trained on examples of up to ", "trained_length", " tokens");
    print_info(out, model, "trained on ", "trained_tokens", " target tokens");
    print_info(out, model, "trained with seed ", "trained_seed", "");
    print_info(out, model, "license: ", "license", "");
    print_info(out, model, "content hash: ", "hash", "");
}

ferry_text ferry_inspect_name(const ferry_model *model)
{
    return model != NULL ? (ferry_text){model->file.name.data, model->file.name.size} : (ferry_text){"", 0};
}

ferry_status ferry_inspect_describe(const ferry_model *model, ferry_text *text, ferry_error *error)
{
    ferry_memory_stream stream;
    FERRY_NEEDS(text);
    *text = (ferry_text){NULL, 0};
    FERRY_NEEDS(model);
    if (!ferry_memory_stream_open(&stream)) return ferry_fail_memory(error, "a description", 0);
    print_model(stream.file, model);
    if (!ferry_memory_stream_close(&stream)) return ferry_fail_memory(error, "a description", stream.size);
    *text = (ferry_text){stream.data, stream.size};
    return FERRY_OK;
}
