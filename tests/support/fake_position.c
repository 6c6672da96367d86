#include "fake_position.h"

static bool find_value(const fake_file *file, const char *key, ferry_view *value)
{
    const size_t length = strlen(key);
    for (const char *at = file->parameters; at != NULL; at = strchr(at, ',')) {
        at += strspn(at, ", ");
        if (strncmp(at, key, length) != 0 || at[length] != ' ') continue;
        *value = (ferry_view){at + length + 1, strcspn(at + length + 1, ",")};
        return true;
    }
    return false;
}

/* A number where a text is expected is one of another type. */
static bool fake_parameter(void *user, const ferry_position_parameter *declared, ferry_view *text, double *number)
{
    ferry_view found;
    char *end;
    if (!find_value(user, declared->key, &found)) return false;
    const double value = strtod(found.data, &end);
    const bool is_number = end == found.data + found.size, choice = declared->kind == FERRY_POSITION_CHOICE;
    if (choice && !is_number) *text = found;
    if (!choice && is_number) *number = declared->kind == FERRY_POSITION_INTEGER ? trunc(value) : value;
    return true;
}

ferry_status fake_tensor(void *user, const ferry_position_tensor *declared, int32_t layer, int32_t dims,
                         const int64_t *shape, const float **data, ferry_error *error)
{
    const fake_file *file = user;
    const fake_weights *weights = file->weights;
    const size_t count = (size_t)shape[0] * (dims > 1 ? (size_t)shape[1] : 1);
    *data = file->make != NULL ? file->make(file->user, declared, layer, count) : file->tensor;
    for (; weights != NULL && weights->name != NULL; weights++)
        if (strcmp(weights->name, declared->name) == 0) *data = weights->data;
    return *data != NULL ? FERRY_OK : ferry_fail(error, FERRY_ERROR_FORMAT, "no tensor '%s'", declared->name);
}

ferry_status try_bind_encoding_file(const char *name, const ferry_position_stack *stack, fake_file file,
                                    ferry_position *position, ferry_error *error)
{
    const ferry_position_source source = {&file, fake_parameter, fake_tensor};
    return ferry_position_bind((ferry_view){name, strlen(name)}, stack, &source, ferry_kernels_find(NULL), position,
                               error);
}

ferry_status try_bind_encoding(const char *name, const ferry_position_stack *stack, const char *parameters,
                               const float *tensor, ferry_position *position, ferry_error *error)
{
    return try_bind_encoding_file(name, stack, (fake_file){.parameters = parameters, .tensor = tensor}, position,
                                  error);
}

ferry_position bind_encoding(const char *name, const ferry_position_stack *stack, const char *parameters,
                             const float *tensor)
{
    ferry_position position;
    CHECK(try_bind_encoding(name, stack, parameters, tensor, &position, &error));
    return position;
}

void extend_encoding(const ferry_position *position, ferry_position_state *state, int32_t count)
{
    CHECK(ferry_position_extend(position, state, ferry_kernels_find(NULL), count, &error));
}

void bias_by_key(const ferry_position *position, int32_t head, int32_t at, int32_t keys, float *scores)
{
    ferry_position_state state = {0};
    extend_encoding(position, &state, keys);
    const ferry_position_tile tile = {.head = head,
                                      .first = at,
                                      .queries = 1,
                                      .keys = keys,
                                      .scores = scores,
                                      .ld_scores = (size_t)keys,
                                      .state = &state,
                                      .kernels = ferry_kernels_find(NULL)};
    memset(scores, 0, (size_t)keys * sizeof *scores);
    position->scheme->score(position, &tile);
    ferry_position_state_destroy(&state);
}
