/* The tables of parameters and tensors in docs/model-file.md, as engine/position declares them:
 *
 *     position_rows [--write] PAGE
 *
 * fails if they are not those of PAGE; --write puts them there. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/position/position.h"

static char page[1 << 17], made[1 << 17];
static size_t length; /* of made */

static void put(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    length += (size_t)vsnprintf(made + length, sizeof made - length, format, arguments);
    va_end(arguments);
    if (length >= sizeof made) abort();
}

/* The last cell of a row. */
static void put_meaning(const char *text)
{
    for (put(" "); text != NULL && *text != '\0'; text++) put("%s%c", *text == '|' ? "\\" : "", *text);
    put(" |\n");
}

static void put_parameters(const ferry_position_scheme *scheme)
{
    static const char *const types[] = {
        [FERRY_POSITION_CHOICE] = "text", [FERRY_POSITION_INTEGER] = "u32", [FERRY_POSITION_REAL] = "f32"};
    const ferry_position_parameter *p = scheme->parameters;
    for (; p != NULL && p->key != NULL; p++) {
        put("| `%s` | `%s` | %s | ", scheme->name, p->key, types[p->kind]);
        for (size_t i = 0; p->choices[i] != NULL; i++) put("%s`%s`", i > 0 ? ", " : "", p->choices[i]);
        if (p->kind == FERRY_POSITION_REAL) put("above %s, up to %s", p->min, p->max);
        if (p->kind == FERRY_POSITION_INTEGER) put("%s%s … %s", p->even ? "even, " : "", p->min, p->max);
        put(" | %s |", p->if_missing != NULL ? p->if_missing : "required");
        put_meaning(p->meaning);
    }
}

static void put_tensors(const ferry_position_scheme *scheme)
{
    const ferry_position_tensor *t = scheme->tensors;
    for (; t != NULL && t->name != NULL; t++) {
        put("| `%s` | `%s` | %s | [%s] | %s |", scheme->name, t->name, t->per_layer ? "each layer" : "stack", t->shape,
            t->when != NULL ? t->when : "always");
        put_meaning(t->meaning);
    }
}

/* Copies the page from `rest` on, with new rows between the lines `head` and `end`. Returns what is not yet copied. */
static const char *put_table(const char *rest, const char *head, void (*put_rows)(const ferry_position_scheme *scheme))
{
    const char *begin = strstr(rest, head), *end = begin != NULL ? strstr(begin, "\n<!-- end of rows -->") : NULL;
    const ferry_position_scheme *scheme;
    if (end == NULL) {
        fprintf(stderr, "position_rows: no table that begins with\n%s", head);
        exit(1);
    }
    put("%.*s%s", (int)(begin - rest), rest, head);
    for (size_t i = 0; (scheme = ferry_position_at(i)) != NULL; i++) put_rows(scheme);
    return end + 1;
}

int main(int argc, char **argv)
{
    const bool write = argc == 3 && strcmp(argv[1], "--write") == 0;
    const char *path = argv[argc - 1], *rest = page;
    FILE *file = argc == 2 || write ? fopen(path, "rb") : NULL;
    if (file == NULL || fread(page, 1, sizeof page - 1, file) == 0 || fclose(file) != 0) {
        fprintf(stderr, "usage: position_rows [--write] PAGE\n");
        return 1;
    }
    rest = put_table(rest,
                     "| type | key | type of value | values | if missing | meaning |\n"
                     "| --- | --- | --- | --- | --- | --- |\n",
                     put_parameters);
    rest = put_table(rest,
                     "| type | name | of | shape | present | meaning |\n"
                     "| --- | --- | --- | --- | --- | --- |\n",
                     put_tensors);
    put("%s", rest);
    if (strcmp(page, made) == 0) return 0;
    if (write) {
        file = fopen(path, "wb");
        return file == NULL || fwrite(made, 1, length, file) != length || fclose(file) != 0;
    }
    fprintf(stderr, "%s: its rows of positions are not those of engine/position; position_rows --write %s\n", path,
            path);
    return 1;
}
