/* Parameters and tensors as the schemes declare them: reading, checking, sizes. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "position.h"

size_t ferry_position_parameter_index(const ferry_position *position, ferry_view key)
{
    const ferry_position_parameter *parameters = position->scheme->parameters;
    size_t i = 0;
    while (parameters[i].key != NULL && !ferry_view_is(key, parameters[i].key)) i++;
    return i;
}

static double look_up(const ferry_position *position, ferry_view name)
{
    const ferry_position_stack *stack = &position->stack;
    if (ferry_view_is(name, "D")) return stack->d_model;
    if (ferry_view_is(name, "H")) return stack->heads;
    if (ferry_view_is(name, "K")) return stack->head_width;
    if (ferry_view_is(name, "layers")) return stack->layers;
    if (ferry_view_is(name, "directions")) return stack->causal ? 1 : 2;
    return position->values[ferry_position_parameter_index(position, name)];
}

double ferry_position_evaluate(const ferry_position *position, const char *expression)
{
    double result = 0;
    char operation = '+';
    for (const char *at = expression; operation != '\0' && operation != ','; at++) {
        const size_t length = strcspn(at, "*/+,");
        const double operand =
            isdigit((unsigned char)*at) ? strtod(at, NULL) : look_up(position, (ferry_view){at, length});
        if (operation == '*')
            result *= operand;
        else if (operation == '/')
            result = floor(result / operand);
        else
            result += operand;
        at += length;
        operation = *at;
    }
    return result;
}

int32_t ferry_position_choice(const ferry_position_parameter *parameter, ferry_view text)
{
    for (int32_t i = 0; parameter->choices[i] != NULL; i++)
        if (ferry_view_is(text, parameter->choices[i])) return i;
    return -1;
}

ferry_name ferry_position_choices(const ferry_position_parameter *parameter)
{
    const char *const *choices = parameter->choices;
    ferry_name list = ferry_name_format("'%s'", choices[0]);
    for (int32_t i = 1; choices[i] != NULL; i++)
        list = ferry_name_format("%s%s'%s'", list.text, choices[i + 1] != NULL ? ", " : " or ", choices[i]);
    return list;
}

bool ferry_position_has(const ferry_position *position, size_t index)
{
    const ferry_position_parameter *parameter = &position->scheme->parameters[index];
    return parameter->when == NULL ||
           position->values[ferry_position_parameter_index(position, ferry_text_view(parameter->when))] >=
               parameter->from;
}

bool ferry_position_says(const ferry_position *position, size_t index)
{
    const bool first = position->scheme->parameters[index].word != NULL && position->values[index] == 0;
    return !first && ferry_position_has(position, index);
}

/* The value from the source, or the declared one; false if there is none of this kind. */
static bool find_value(const ferry_position *position, const ferry_position_source *source,
                       const ferry_position_parameter *parameter, double *value)
{
    const ferry_position_kind kind = parameter->kind;
    const char *key = parameter->key, *text = parameter->missing;
    ferry_view view;
    int64_t integer;
    if (source->text == NULL) {
        if (parameter->usual != NULL) text = parameter->usual;
    } else if (kind == FERRY_POSITION_CHOICE && source->text(source->user, key, &view)) {
        *value = ferry_position_choice(parameter, view);
        return *value >= 0;
    } else if (kind == FERRY_POSITION_INTEGER && source->integer(source->user, key, &integer)) {
        *value = (double)integer;
        return true;
    } else if (kind == FERRY_POSITION_REAL && source->real(source->user, key, value)) {
        return true;
    } else if (text != NULL && source->present(source->user, key)) { /* of another kind */
        return false;
    }
    if (text == NULL) return false;
    *value = kind == FERRY_POSITION_CHOICE ? ferry_position_choice(parameter, ferry_text_view(text))
                                           : ferry_position_evaluate(position, text);
    return true;
}

static ferry_status read_parameter(const ferry_position *position, const ferry_position_source *source,
                                   const ferry_position_parameter *parameter, double *value, ferry_error *error)
{
    const bool found = find_value(position, source, parameter, value);
    if (parameter->kind == FERRY_POSITION_CHOICE) {
        if (found) return FERRY_OK;
        return ferry_fail(error, FERRY_ERROR_FORMAT, "position.%s: expected %s", parameter->key,
                          ferry_position_choices(parameter).text);
    }
    const double least = ferry_position_evaluate(position, parameter->least);
    const double most = ferry_position_evaluate(position, parameter->most);
    if (parameter->kind == FERRY_POSITION_REAL) {
        if (found && *value > least && *value <= most) return FERRY_OK;
        return ferry_fail(error, FERRY_ERROR_FORMAT, "position.%s: expected a real number above %s, up to %s",
                          parameter->key, parameter->least, parameter->most);
    }
    if (found && *value >= least && *value <= most && (!parameter->even || fmod(*value, 2) == 0)) return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_FORMAT, "position.%s: expected %s %s from %.0f to %s%.0f", parameter->key,
                      parameter->even ? "an even" : "a", parameter->unit != NULL ? parameter->unit : "number", least,
                      strcmp(parameter->most, "K") == 0 ? "the head width, " : "", most);
}

ferry_status ferry_position_read(ferry_position *position, const ferry_position_source *source, ferry_error *error)
{
    const ferry_position_parameter *parameters = position->scheme->parameters;
    for (size_t i = 0; parameters != NULL && parameters[i].key != NULL; i++)
        if (ferry_position_has(position, i))
            FERRY_TRY(read_parameter(position, source, &parameters[i], &position->values[i], error));
        else
            position->values[i] = 1;
    return FERRY_OK;
}

int32_t ferry_position_shape(const ferry_position *position, const ferry_position_tensor *tensor, int64_t shape[2])
{
    if (tensor->when != NULL) {
        const size_t length = strcspn(tensor->when, "=");
        const size_t i = ferry_position_parameter_index(position, (ferry_view){tensor->when, length});
        const ferry_view choice = ferry_text_view(tensor->when + length + 1);
        if (position->values[i] != ferry_position_choice(&position->scheme->parameters[i], choice)) return 0;
    }
    const char *comma = strchr(tensor->shape, ',');
    shape[0] = (int64_t)ferry_position_evaluate(position, tensor->shape);
    if (comma != NULL) shape[1] = (int64_t)ferry_position_evaluate(position, comma + 2);
    return comma != NULL ? 2 : 1;
}

static ferry_name format_value(const ferry_position_parameter *parameter, double value)
{
    switch (parameter->kind) {
    case FERRY_POSITION_CHOICE: return ferry_name_format("%s", parameter->choices[(size_t)value]);
    case FERRY_POSITION_INTEGER: return ferry_name_format("%.0f", value);
    default: return ferry_name_format("%g", value);
    }
}

ferry_name ferry_position_parameters(const ferry_position *position)
{
    const ferry_position_parameter *parameters = position->scheme->parameters;
    ferry_name list = {""};
    for (size_t i = 0; parameters != NULL && parameters[i].key != NULL; i++)
        if (ferry_position_says(position, i))
            list = ferry_name_format("%s%s%s %s", list.text, i > 0 ? ", " : "", parameters[i].key,
                                     format_value(&parameters[i], position->values[i]).text);
    return list;
}

bool ferry_position_has_weights(const ferry_position *position)
{
    const ferry_position_tensor *tensor = position->scheme->tensors;
    int64_t shape[2];
    for (; tensor != NULL && tensor->name != NULL; tensor++)
        if (ferry_position_shape(position, tensor, shape) > 0) return true;
    return false;
}
