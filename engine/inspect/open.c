#include <string.h>

#include "base/system.h"
#include "engine/api/argument_checks.h"
#include "engine/api/info.h"
#include "engine/api/model.h"
#include "engine/ferry_inspect.h"

/* ---- other parameters of positional encodings than those of the file ---- */

typedef struct override {
    const ferry_position *own; /* as the file has it */
    const char *words;         /* "theta=40000 scaling=linear" */
} override;

/* What follows "key=" in the words; NULL: nothing says the key. */
static const char *find_word(const char *words, const char *key, size_t *length)
{
    const size_t size = strlen(key);
    for (const char *word = words; *word != '\0'; word += *length + (word[*length] == ' ')) {
        *length = strcspn(word, " ");
        if (strncmp(word, key, size) != 0 || word[size] != '=') continue;
        *length -= size + 1;
        return word + size + 1;
    }
    return NULL;
}

/* The parameter, if the file's encoding has it, and its value there. */
static const ferry_position_parameter *own_value(const override *o, const char *key, double *value)
{
    const size_t i = ferry_position_parameter_index(o->own, ferry_text_view(key));
    *value = o->own->values[i];
    return ferry_position_has(o->own, i) ? &o->own->scheme->parameters[i] : NULL;
}

static bool find_text(void *user, const char *key, ferry_view *value)
{
    const override *o = user;
    double own;
    size_t length = 0;
    const char *word = find_word(o->words, key, &length);
    const ferry_position_parameter *parameter = own_value(o, key, &own);
    if (word == NULL && parameter == NULL) return false;
    *value = word != NULL ? (ferry_view){word, length} : ferry_text_view(parameter->choices[(int)own]);
    return true;
}

static bool find_real(void *user, const char *key, double *value)
{
    size_t length = 0;
    char *end;
    const char *word = find_word(((const override *)user)->words, key, &length);
    if (word == NULL) return own_value(user, key, value) != NULL;
    *value = ferry_parse_double(word, &end);
    return length > 0 && end == word + length;
}

static bool find_integer(void *user, const char *key, int64_t *value)
{
    double number;
    if (!find_real(user, key, &number) || !(number >= -1e15 && number <= 1e15)) return false;
    *value = (int64_t)number;
    return (double)*value == number;
}

static bool find_any(void *user, const char *key)
{
    ferry_view value;
    return find_text(user, key, &value);
}

static ferry_status find_tensor(void *user, const ferry_position_tensor *declared, int32_t layer, int32_t dims,
                                const int64_t *shape, const float **data, ferry_error *error)
{
    (void)user, (void)layer, (void)dims, (void)shape, (void)data;
    return ferry_fail(error, FERRY_ERROR_ARGUMENT, "needs the tensor '%s', which the model lacks", declared->name);
}

/* An encoding with weights stays as it was trained. */
static bool can_change(const ferry_position *position)
{
    return position->scheme->parameters != NULL && !ferry_position_has_weights(position);
}

static ferry_status bind_again(ferry_model *model, ferry_position *own, const char *words, ferry_error *error)
{
    override o = {own, words};
    const ferry_position_source source = {&o, find_text, find_integer, find_real, find_any, find_tensor};
    ferry_position changed;
    ferry_error inner = {0};
    if (!can_change(own)) return FERRY_OK;
    const ferry_status status =
        ferry_position_bind(ferry_text_view(own->scheme->name), &own->stack, &source, model->kernels, &changed, &inner);
    if (status == FERRY_ERROR_MEMORY) return ferry_fail(error, status, "%s", inner.message);
    if (status != FERRY_OK) return ferry_fail(error, FERRY_ERROR_ARGUMENT, "position '%s': %s", words, inner.message);
    ferry_position_unbind(own);
    *own = changed;
    return FERRY_OK;
}

/* Whether the encoding took the word "key=value". */
static bool takes(const ferry_position *position, const char *word)
{
    const size_t size = strcspn(word, "= ");
    if (!can_change(position) || word[size] != '=') return false;
    const size_t i = ferry_position_parameter_index(position, (ferry_view){word, size});
    return position->scheme->parameters[i].key != NULL && ferry_position_has(position, i);
}

static ferry_status change_positions(ferry_model *model, const char *words, ferry_error *error)
{
    ferry_position *encoder = &model->file.transformer.encoder.position;
    ferry_position *decoder = &model->file.transformer.decoder.position;
    FERRY_TRY(bind_again(model, encoder, words, error));
    FERRY_TRY(bind_again(model, decoder, words, error));
    for (const char *word = words; *word != '\0'; word += strcspn(word, " "), word += *word == ' ')
        if (!takes(encoder, word) && !takes(decoder, word))
            return ferry_fail(error, FERRY_ERROR_ARGUMENT,
                              "position '%s': the model's encodings have no parameter that '%.*s' could change", words,
                              (int)strcspn(word, " "), word);
    return ferry_model_info_create(model, error);
}

ferry_status ferry_inspect_open(const char *path, const char *isa, const char *position, ferry_model **model,
                                ferry_error *error)
{
    const ferry_kernels *kernels;
    ferry_mapped_file map;
    FERRY_NEEDS(model);
    *model = NULL;
    FERRY_NEEDS(path);
    FERRY_TRY(ferry_model_find_kernels(isa, &kernels, error));
    FERRY_TRY(ferry_mapped_file_open(path, FERRY_FILE_MAPPED, &map, error));
    FERRY_TRY(ferry_model_create(map, path, kernels, model, error));
    const ferry_status status = position != NULL ? change_positions(*model, position, error) : FERRY_OK;
    if (status == FERRY_OK) return FERRY_OK;
    ferry_model_close(*model);
    *model = NULL;
    return status;
}

ferry_status ferry_inspect_open_fd(int fd, const char *name, const char *isa, ferry_model **model, ferry_error *error)
{
    const ferry_kernels *kernels;
    ferry_mapped_file map;
    FERRY_NEEDS(model);
    *model = NULL;
    FERRY_NEEDS(name);
    if (fd < 0) return ferry_fail(error, FERRY_ERROR_ARGUMENT, "fd: expected an open file, found %d", fd);
    FERRY_TRY(ferry_model_find_kernels(isa, &kernels, error));
    FERRY_TRY(ferry_mapped_file_open_part(fd, name, 0, 0, FERRY_FILE_MAPPED, &map, error));
    return ferry_model_create(map, name, kernels, model, error);
}
