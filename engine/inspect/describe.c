/* The description of a model. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/system.h"
#include "base/utf8.h"
#include "engine/lines/model.h"
#include "engine/ferry_inspect.h"
#include "engine/file/schema.h"
#include "engine/graph/cache.h"

/* Sizes, norms and positions of a stack; the memory of its positions, and their operations in a step. */
static void print_stack(FILE *out, const ferry_model *model, bool decoder)
{
    const ferry_transformer *transformer = &model->file.transformer;
    const ferry_stack *stack = decoder ? &transformer->decoder : &transformer->encoder;
    const ferry_position_cost cost = ferry_position_get_cost(&stack->position);
    /* Printed only if unusual: a pre-norm stack usually ends with a norm, a post-norm stack does not. */
    const char *end = stack->pre_norm ? ", no norm at the end" : ", a norm at the end";
    if (stack->pre_norm == (stack->final_norm.weight != NULL)) end = "";
    fprintf(out, "%s: %d layers%s, %d heads of width %d, ffn %d (%s%s), %s-%snorm (eps %g)%s%s\n",
            decoder ? "decoder" : "encoder", (int)stack->layer_count,
            decoder && transformer->ssru ? " of SSRU and cross-attention" : "", (int)stack->heads,
            (int)stack->head_width, (int)stack->ffn_width, stack->gated ? "gated " : "",
            ferry_activation_names[stack->activation], stack->pre_norm ? "pre" : "post",
            stack->norm == FERRY_RMS_NORM ? "RMS-" : "", (double)stack->norm_eps,
            stack->embedding_norm.weight != NULL ? ", embeddings normalized" : "", end);
    fprintf(out, "  positions: %s", ferry_model_info(model, decoder ? "decoder.position" : "encoder.position"));
    if (stack->position.limit > 0)
        fprintf(out, "; at most %d tokens\n", (int)stack->position.limit);
    else
        fputs("; any length\n", out);
    fputs("  cost:", out);
    if (cost.model_bytes == 0 && cost.position_bytes == 0) fputs(" nothing kept", out);
    if (cost.model_bytes >= 1000)
        fprintf(out, " %.1f kB in the model", (double)cost.model_bytes / 1e3);
    else if (cost.model_bytes > 0)
        fprintf(out, " %" PRId64 " bytes in the model", cost.model_bytes);
    if (cost.position_bytes > 0)
        fprintf(out, "%s %" PRId64 " bytes for each position in each thread", cost.model_bytes > 0 ? "," : "",
                cost.position_bytes);
    fprintf(out, "; %s adds %" PRId64 " multiply-adds and %" PRId64 " for each key\n",
            stack->position.stack.causal ? "a decoder step" : "a token", cost.token_operations, cost.key_operations);
}

static void print_memory(FILE *out, const ferry_model_file *file)
{
    const ferry_transformer *transformer = &file->transformer;
    const ferry_stack *decoder = &transformer->decoder;
    ferry_cache cache;
    ferry_cache_init(&cache, decoder->layer_count, decoder->heads, decoder->head_width);
    fprintf(out, "memory: %.1f MB file, mapped; %.1f MB for widened matrices; keys and values %.1f kB for each %stoken",
            (double)file->gguf.bytes.size / 1e6, (double)file->widened_bytes / 1e6,
            (double)ferry_cache_block_bytes(&cache.layout) / FERRY_BLOCK_POSITIONS / 1e3,
            transformer->ssru ? "source " : "");
    if (transformer->ssru) {
        ferry_cache_init_states(&cache, decoder->layer_count, transformer->d_model);
        fprintf(out, "; states %.1f kB for each hypothesis", (double)ferry_cache_block_bytes(&cache.layout) / 1e3);
    }
    fputc('\n', out);
}

/* int8 matrices: with a scale for each row, with one multiplier, with a multiplier for their inputs, in four bits. */
static void count_int8(const ferry_matrix *matrix, int counts[4])
{
    if (matrix->kind == FERRY_MATRIX_FLOATS) return;
    counts[3] += matrix->kind == FERRY_MATRIX_STEPS;
    counts[matrix->scales != NULL ? 0 : 1]++;
    counts[2] += matrix->input_multiplier > 0;
}

static void count_layers(const ferry_transformer *model, const ferry_stack *stack, int counts[4])
{
    for (const ferry_tensor_row *row = ferry_layer_tensors; row->name != NULL; row++) {
        if (row->form == FERRY_TENSOR_NORM || !ferry_tensor_applies(row, model, stack)) continue;
        for (int32_t i = 0; i < stack->layer_count; i++)
            count_int8(ferry_tensor_target(row, &stack->layers[i]), counts);
    }
}

/* Counts int8 matrices by the kind of their scales. */
static void print_int8(FILE *out, const ferry_transformer *transformer)
{
    static const char *const meanings[] = {"with a scale for each row", "with one multiplier",
                                           "with a multiplier for their inputs",
                                           "in four bits with a step for every 32 inputs"};
    int counts[4] = {0};
    count_layers(transformer, &transformer->encoder, counts);
    count_layers(transformer, &transformer->decoder, counts);
    count_int8(&transformer->decoder.embedding, counts);
    if (transformer->encoder.embedding.weights != transformer->decoder.embedding.weights)
        count_int8(&transformer->encoder.embedding, counts);
    if (transformer->output.weights != transformer->decoder.embedding.weights) count_int8(&transformer->output, counts);
    if (counts[0] + counts[1] == 0) return;
    fprintf(out, "int8: %d matrices", counts[0] + counts[1]);
    for (size_t i = 0; i < 4; i++)
        if (counts[i] > 0) fprintf(out, ", %d %s", counts[i], meanings[i]);
    fprintf(out, "; other inputs are quantized by the %s\n", transformer->sentence_inputs ? "sentence" : "row");
}

/* The alignment and the shortlist, if the model has them. */
static void print_options(FILE *out, const ferry_transformer *transformer, const ferry_generation *generation)
{
    const ferry_shortlist *shortlist = &generation->shortlist;
    const int layer = generation->alignment_layer, head = generation->alignment_head;
    const int last = head + generation->alignment_heads - 1;
    if (layer >= 0 && head >= 0 && last == head) fprintf(out, "alignment: layer %d, head %d\n", layer, head);
    if (layer >= 0 && head >= 0 && last != head)
        fprintf(out, "alignment: layer %d, heads %d to %d\n", layer, head, last);
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

/* Choices, beam, length penalty, and values that differ from their defaults. */
static void print_decoding(FILE *out, const ferry_decoding *decoding)
{
    const ferry_key_table table = ferry_schema_keys(FERRY_KEYS_DECODING);
    const char *before = "decoding: ";
    for (const ferry_key *key = table.keys; key < table.keys + table.count; key++) {
        const bool always = key->kind == FERRY_KEY_CHOICE || key->offset == offsetof(ferry_decoding, options.beam) ||
                            key->offset == offsetof(ferry_decoding, options.length_penalty);
        if (key->when == FERRY_WHEN_NEVER || key->kind == FERRY_KEY_IDS) continue;
        const double by_default = key->kind == FERRY_KEY_REAL ? (double)(float)key->default_value : key->default_value;
        if (!always && ferry_key_number(key, decoding) == by_default) continue;
        fputs(before, out);
        for (const char *letter = key->name; *letter != '\0'; letter++) fputc(*letter == '_' ? ' ' : *letter, out);
        fprintf(out, " %s", ferry_key_value(key, decoding).text); /* "beam 4": the key's words and its value */
        before = ", ";
    }
    const ferry_options *options = &decoding->options;
    if (options->max_length == 0)
        fprintf(out, ", at most %g × source + %d tokens", (double)options->length_factor, (int)options->length_extra);
    print_ids(out, "never", decoding->search.suppressed_ids, (int32_t)decoding->search.suppressed_count);
    fputc('\n', out);
}

static void print_text(FILE *out, const ferry_tokenizer_config *text)
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

static void print_languages(FILE *out, const ferry_model *model)
{
    const ferry_model_languages *languages = &model->file.languages;
    const int32_t defaults[] = {languages->default_source, languages->default_target};
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
    for (int i = 0; i < 2; i++) {
        if (defaults[i] < 0) continue;
        fprintf(out, "; %s ", i == 0 ? "from" : "into");
        ferry_printable_write(out, ferry_text_view(model->languages[defaults[i]].tag));
        fputs(" by default", out);
    }
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
        ferry_printable_write(out, ferry_string_table_at(origin->files, i));
    }
    fputc('\n', out);
    for (size_t i = 0; origin->hashes != NULL && i < origin->file_count; i++) {
        const ferry_view hash = ferry_string_table_at(origin->hashes, i);
        fprintf(out, "  SHA-256 %.*s  ", (int)hash.size, hash.data); /* digits: checked */
        ferry_printable_write(out, ferry_string_table_at(origin->files, i));
        fputc('\n', out);
    }
}

/* What ferry_model_info tells, where the file records it. Further lines of it are indented: no line of a license looks
 * like one of ours. */
static void print_info(FILE *out, const ferry_model *model)
{
    static const char *const rows[][3] = {
        {"training: ", "training", ""},
        {"trained on examples of up to ", "trained_length", " tokens"},
        {"trained on ", "trained_tokens", " target tokens"},
        {"trained with seed ", "trained_seed", ""},
        {"license: ", "license", ""},
        {"content hash: ", "hash", ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *rest = ferry_model_info(model, rows[i][1]);
        if (rest[0] == '\0') continue;
        fputs(rows[i][0], out);
        while (*rest != '\0') {
            const size_t size = strcspn(rest, "\n");
            ferry_printable_write(out, (ferry_view){rest, size});
            rest += size + strspn(rest + size, "\n");
            if (*rest != '\0') fputs("\n    ", out);
        }
        fprintf(out, "%s\n", rows[i][2]);
    }
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
            transformer->encoder.embedding.weights == transformer->decoder.embedding.weights
                ? "; one embedding for both sides"
                : "",
            transformer->output.weights == transformer->decoder.embedding.weights ? "; output matrix = target embedding"
                                                                                  : "");
    if (transformer->output_scale != 1.0f) fprintf(out, "; output × %g", (double)transformer->output_scale);
    fputc('\n', out);
    print_int8(out, transformer);
    print_stack(out, model, false);
    print_stack(out, model, true);
    print_options(out, transformer, generation);
    print_text(out, &file->text);
    print_languages(out, model);
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
    print_info(out, model);
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
    if (!ferry_memory_stream_open(&stream)) return ferry_fail_memory(error, "a description", 0, 1);
    print_model(stream.file, model);
    if (!ferry_memory_stream_close(&stream)) return ferry_fail_memory(error, "a description", stream.size, 1);
    *text = (ferry_text){stream.data, stream.size};
    return FERRY_OK;
}
