#include "made_marian.h"

enum { MAX_TENSORS = 128 };

typedef struct made {
    char name[64];
    int32_t rows, columns;
    uint64_t type;
} made;

typedef struct maker {
    const marian_kind *kind;
    made tensors[MAX_TENSORS];
    size_t count;
} maker;

float marian_value(const char *tensor, size_t i)
{
    unsigned hash = 0;
    for (const char *at = tensor; *at != 0; at++) hash = hash * 31 + (unsigned char)*at;
    return (float)((int)((hash + 7 * i) % 201) - 100) / 16;
}

/* ---- tensors ---- */

static void add(maker *out, int32_t rows, int32_t columns, const char *prefix, const char *name)
{
    made *tensor = &out->tensors[out->count];
    snprintf(tensor->name, sizeof tensor->name, "%.15s%.47s", prefix, name);
    if (out->kind->without != NULL && strcmp(tensor->name, out->kind->without) == 0) return;
    tensor->rows = rows;
    tensor->columns = columns;
    if (out->kind->narrow != NULL && strcmp(tensor->name, out->kind->narrow) == 0) tensor->columns--;
    const bool matrix = rows > 1 && strstr(tensor->name, "Wemb") == NULL && strstr(tensor->name, "logit") == NULL;
    tensor->type = matrix && out->kind->codes != 0 ? out->kind->codes : 0x404;
    assert_true(++out->count < MAX_TENSORS);
}

static void add_norm(maker *out, const char *prefix, const char *name, bool pre)
{
    char full[96];
    snprintf(full, sizeof full, "%.40s_%s_scale%s", name, out->kind->rms ? "rms" : "ln", pre ? "_pre" : "");
    add(out, 1, MARIAN_D, prefix, full);
    snprintf(full, sizeof full, "%.40s_ln_bias%s", name, pre ? "_pre" : "");
    if (!out->kind->rms) add(out, 1, MARIAN_D, prefix, full);
}

static void add_attention(maker *out, const char *prefix, const char *block)
{
    char name[40];
    for (const char *letter = "qkvo"; *letter != 0; letter++) {
        snprintf(name, sizeof name, "%s_W%c", block, *letter);
        add(out, MARIAN_D, MARIAN_D, prefix, name);
        snprintf(name, sizeof name, "%s_b%c", block, *letter);
        add(out, 1, MARIAN_D, prefix, name);
    }
    snprintf(name, sizeof name, "%s_Wo", block);
    add_norm(out, prefix, name, out->kind->pre_norm);
}

static void add_layer(maker *out, const char *stack, int number)
{
    char prefix[32];
    const bool decoder = stack[0] == 'd';
    const int32_t F = decoder && out->kind->decoder_ffn > 0 ? out->kind->decoder_ffn : MARIAN_F;
    snprintf(prefix, sizeof prefix, "%s_l%d_", stack, number);
    if (decoder && out->kind->ssru) {
        add(out, MARIAN_D, MARIAN_D, prefix, "rnn_W");
        add(out, MARIAN_D, MARIAN_D, prefix, "rnn_Wf");
        add(out, 1, MARIAN_D, prefix, "rnn_bf");
        add_norm(out, prefix, out->kind->pre_norm ? "rnn" : "rnn_ffn", out->kind->pre_norm);
    } else {
        add_attention(out, prefix, "self");
    }
    if (decoder) add_attention(out, prefix, "context");
    add(out, MARIAN_D, F, prefix, "ffn_W1");
    add(out, 1, F, prefix, "ffn_b1");
    add(out, F, MARIAN_D, prefix, "ffn_W2");
    add(out, 1, MARIAN_D, prefix, "ffn_b2");
    add_norm(out, prefix, "ffn_ffn", out->kind->pre_norm);
}

static bool one_table(const marian_kind *kind)
{
    return kind->ties == MARIAN_TIED_ALL || kind->ties == MARIAN_TIED_SOURCE;
}

static int32_t target_words(const marian_kind *kind)
{
    return one_table(kind) ? MARIAN_V : MARIAN_TARGET_V;
}

static void add_all(maker *out)
{
    const marian_kind *kind = out->kind;
    const int32_t V = target_words(kind);
    if (one_table(kind)) add(out, MARIAN_V, MARIAN_D, "", "Wemb");
    if (!one_table(kind)) add(out, MARIAN_V, MARIAN_D, "encoder_", "Wemb");
    if (!one_table(kind)) add(out, V, MARIAN_D, "decoder_", "Wemb");
    add_layer(out, "encoder", 1);
    for (int i = 0; i < (kind->one_layer ? 1 : MARIAN_DECODER_LAYERS); i++) add_layer(out, "decoder", i + 1);
    for (int i = 0; i < 2; i++) {
        const char *prefix = i == 0 ? "encoder_" : "decoder_";
        if (kind->embedding_norm) add_norm(out, prefix, "emb", true);
        if (kind->top_norm) add_norm(out, prefix, "top", false);
    }
    const bool own_output = kind->ties == MARIAN_TIED_SOURCE || kind->ties == MARIAN_TIED_NONE;
    if (own_output && kind->old_output) add(out, MARIAN_D, V, "", "decoder_ff_logit_out_W");
    if (own_output && !kind->old_output) add(out, V, MARIAN_D, "", "decoder_ff_logit_out_Wt");
    if (!kind->no_output_bias) add(out, 1, V, "", "decoder_ff_logit_out_b");
    if (kind->extra != NULL) add(out, 1, ferry_text_ends(kind->extra, "_QuantMultA") ? 1 : MARIAN_D, "", kind->extra);
}

/* ---- bytes ---- */

static void put_float(made_file *file, float value)
{
    put_bytes(file, &value, sizeof value); /* tests run on little-endian machines */
}

static size_t data_bytes(const made *tensor)
{
    const size_t count = (size_t)tensor->rows * (size_t)tensor->columns;
    return tensor->type == 0x404 ? 4 * count : (tensor->type & 0xff) * count + 4;
}

/* Integers stand in transposed order, followed by their multiplier. */
static void put_data(made_file *file, const made *tensor)
{
    const size_t rows = (size_t)tensor->rows, columns = (size_t)tensor->columns;
    const bool codes = tensor->type != 0x404;
    for (size_t i = 0; i < rows * columns; i++) {
        const size_t from = codes ? i % rows * columns + i / rows : i;
        const float value = marian_value(tensor->name, from);
        if (codes) put(file, (uint64_t)(int64_t)(value * 16), tensor->type & 0xff);
        if (!codes) put_float(file, value);
    }
    if (codes) put_float(file, 16);
}

static void make_config(const marian_kind *kind, char *text, size_t size)
{
    static const char *const ties[] = {"tied-embeddings-all: true\n", "tied-embeddings-src: true\n",
                                       "tied-embeddings: true\n", ""};
    snprintf(text, size,
             "type: %s\ndim-emb: %d\ntransformer-heads: 2\ntransformer-dim-ffn: %d\nenc-depth: 1\ndec-depth: %d\n"
             "dim-vocabs:\n  - %d\n  - %d\ninput-types:\n  []\n%s%s%s%s%sversion: %s abcdef 2020-01-01\n",
             kind->type != NULL ? kind->type : "transformer", MARIAN_D, MARIAN_F, MARIAN_DECODER_LAYERS, MARIAN_V,
             (int)target_words(kind), ties[kind->ties],
             kind->ssru ? "transformer-decoder-autoreg: rnn\ndec-cell: ssru\n" : "",
             kind->pre_norm ? (kind->rms ? "transformer-preprocess: r\ntransformer-postprocess: da\n"
                                         : "transformer-preprocess: n\ntransformer-postprocess: da\n")
                            : (kind->rms ? "transformer-postprocess: dar\n" : ""),
             kind->no_output_bias ? "output-omit-bias: true\n" : "", kind->keys != NULL ? kind->keys : "",
             kind->version != NULL ? kind->version : "v1.12.43");
}

void marian_write(const char *path, const marian_kind *kind)
{
    static const char config_name[] = "special:model.yml";
    char config[2000];
    maker out = {.kind = kind};
    made_file file = {.size = 0};
    add_all(&out);
    make_config(kind, config, sizeof config);
    put(&file, 1, 8);
    put(&file, out.count + 1, 8);
    for (size_t i = 0; i < out.count; i++) {
        put(&file, strlen(out.tensors[i].name) + 1, 8);
        put(&file, out.tensors[i].type, 8);
        put(&file, 2, 8);
        put(&file, data_bytes(&out.tensors[i]), 8);
    }
    put(&file, sizeof config_name, 8);
    put(&file, 0x101, 8);
    put(&file, 1, 8);
    put(&file, strlen(config) + 3, 8);
    for (size_t i = 0; i < out.count; i++) put_bytes(&file, out.tensors[i].name, strlen(out.tensors[i].name) + 1);
    put_bytes(&file, config_name, sizeof config_name);
    for (size_t i = 0; i < out.count; i++) {
        put(&file, (uint64_t)out.tensors[i].rows, 4);
        put(&file, (uint64_t)out.tensors[i].columns, 4);
    }
    put(&file, strlen(config) + 3, 4);
    put(&file, 1, 8);
    put(&file, 0, 1);
    for (size_t i = 0; i < out.count; i++) put_data(&file, &out.tensors[i]);
    put_text(&file, config);
    put(&file, 0, 3);
    write_bytes(path, file.data, file.size);
}

/* ---- folders ---- */

static void put_vocabulary(const char *folder, const char *name, int32_t count)
{
    char text[200] = "</s>\n<unk>\n";
    for (int32_t i = 2; i < count; i++) snprintf(text + strlen(text), sizeof text - strlen(text), "p%d\n", (int)i);
    write_text(folder, name, text);
}

char *marian_folder(const marian_kind *kind)
{
    static int number;
    char name[32];
    snprintf(name, sizeof name, "marian-%d", number++);
    char *folder = scratch_directory(name);
    marian_write(in_directory(folder, "model.bin"), kind);
    if (one_table(kind)) {
        put_vocabulary(folder, "vocab.txt", MARIAN_V);
    } else {
        put_vocabulary(folder, "vocab.src.txt", MARIAN_V);
        put_vocabulary(folder, "vocab.trg.txt", MARIAN_TARGET_V);
    }
    return folder;
}
