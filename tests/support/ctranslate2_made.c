#include "ctranslate2_made.h"

/* ---- making ---- */

void made_add(made *m, const char *name, uint32_t N, uint32_t K)
{
    made_variable *v = &m->variables[m->count++];
    assert_true(m->count <= MADE_MOST);
    *v = (made_variable){.dims = K > 0 ? 2 : 1, .shape = {N, K}, .value = NAN};
    snprintf(v->name, sizeof v->name, "%s", name);
}

void made_add_number(made *m, const char *name, uint8_t type, float value)
{
    made_variable *v = &m->variables[m->count++];
    *v = (made_variable){.type = type, .value = value};
    snprintf(v->name, sizeof v->name, "%s", name);
}

made_variable *made_find(made *m, const char *name)
{
    for (size_t i = 0; i < m->count; i++)
        if (strcmp(m->variables[i].name, name) == 0) return &m->variables[i];
    fail_msg("no variable '%s'", name);
    return NULL;
}

static void add_in(made *m, const char *scope, const char *name, uint32_t N, uint32_t K)
{
    char full[96];
    snprintf(full, sizeof full, "%s/%s", scope, name);
    made_add(m, full, N, K);
}

void made_add_norm(made *m, const char *scope)
{
    add_in(m, scope, "gamma", MADE_D, 0);
    add_in(m, scope, "beta", MADE_D, 0);
}

void made_add_linear(made *m, const char *scope, uint32_t N, uint32_t K)
{
    add_in(m, scope, "weight", N, K);
    add_in(m, scope, "bias", N, 0);
}

made made_base(void)
{
    enum { D = MADE_D, F = MADE_F, V = MADE_V };
    made m = {.version = 6,
              .revision = 7,
              .specification = "TransformerSpec",
              .config = "{\"add_source_eos\": true}",
              .vocabulary = "[\"<s>\", \"</s>\", \"<unk>\", \"a\", \"b\", \"c\"]",
              .vocabulary_name = "shared_vocabulary.json"};
    made_add_linear(&m, "encoder/layer_0/self_attention/linear_0", 3 * D, D);
    made_add_linear(&m, "encoder/layer_0/self_attention/linear_1", D, D);
    made_add_norm(&m, "encoder/layer_0/self_attention/layer_norm");
    made_add_linear(&m, "encoder/layer_0/ffn/linear_0", F, D);
    made_add_linear(&m, "encoder/layer_0/ffn/linear_1", D, F);
    made_add_norm(&m, "encoder/layer_0/ffn/layer_norm");
    made_add_norm(&m, "encoder/layer_norm");
    made_add(&m, "encoder/embeddings_0/weight", V, D);
    made_add_number(&m, "encoder/num_heads", 2, MADE_H);
    made_add_linear(&m, "decoder/layer_0/self_attention/linear_0", 3 * D, D);
    made_add_linear(&m, "decoder/layer_0/self_attention/linear_1", D, D);
    made_add_norm(&m, "decoder/layer_0/self_attention/layer_norm");
    made_add_linear(&m, "decoder/layer_0/attention/linear_0", D, D);
    made_add_linear(&m, "decoder/layer_0/attention/linear_1", 2 * D, D);
    made_add_linear(&m, "decoder/layer_0/attention/linear_2", D, D);
    made_add_norm(&m, "decoder/layer_0/attention/layer_norm");
    made_add_linear(&m, "decoder/layer_0/ffn/linear_0", F, D);
    made_add_linear(&m, "decoder/layer_0/ffn/linear_1", D, F);
    made_add_norm(&m, "decoder/layer_0/ffn/layer_norm");
    made_add_norm(&m, "decoder/layer_norm");
    made_add(&m, "decoder/embeddings/weight", V, D);
    made_add(&m, "decoder/projection/weight", V, D);
    made_add_number(&m, "decoder/num_heads", 2, MADE_H);
    return m;
}

/* ---- writing ---- */

static void put_string(made_file *file, const char *text)
{
    put(file, strlen(text) + 1, 2);
    put_bytes(file, text, strlen(text) + 1);
}

static void put_elements(made_file *file, const made_variable *v, size_t count)
{
    uint32_t random = 1;
    for (const char *c = v->name; *c != 0; c++) random = random * 31 + (unsigned char)*c;
    for (size_t i = 0; i < count; i++) {
        random = random * 1664525u + 1013904223u;
        const float value = isnan(v->value) ? (float)(random >> 8) / 16777216.0f - 0.5f : v->value + v->step * (float)i;
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        if (v->type == 0) put(file, bits, 4);
        if (v->type != 0) put(file, (uint64_t)(int64_t)value, v->type == 3 ? 4 : v->type);
    }
}

static void put_variable(made_file *file, const made_variable *v, uint32_t version)
{
    static const uint32_t sizes[] = {4, 1, 2, 4};
    size_t count = 1;
    put_string(file, v->name);
    put(file, v->dims, 1);
    for (size_t i = 0; i < v->dims; i++) {
        put(file, v->shape[i], 4);
        count *= v->shape[i];
    }
    put(file, version >= 4 ? v->type : sizes[v->type], 1);
    put(file, version >= 4 ? count * sizes[v->type] : count, 4);
    if (v->bytes != NULL)
        put_bytes(file, v->bytes, count);
    else
        put_elements(file, v, count);
}

char *made_write(const made *m)
{
    static int number;
    char name[32];
    made_file file = {.size = 0};
    snprintf(name, sizeof name, "made-%d", number++);
    char *directory = scratch_directory(name);
    put(&file, m->version, 4);
    put_string(&file, m->specification);
    put(&file, m->revision, 4);
    put(&file, m->count, 4);
    for (size_t i = 0; i < m->count; i++) put_variable(&file, &m->variables[i], m->version);
    if (m->version >= 3) put(&file, 0, 4);
    write_bytes(in_directory(directory, "model.bin"), file.data, file.size);
    if (m->config != NULL) write_text(directory, "config.json", m->config);
    write_text(directory, m->vocabulary_name, m->vocabulary);
    return directory;
}
