/* Lines of markup on standard input, their translations on standard output: what measure.py runs.
 *     translate_markup MODEL */
#define _GNU_SOURCE /* getline */
#include "engine/ferry.h"

#include <stdio.h>
#include <stdlib.h>

static int complain(const ferry_error *error)
{
    fprintf(stderr, "translate_markup: %s\n", error->message);
    return 1;
}

int main(int argc, char **argv)
{
    ferry_error error;
    ferry_model *model;
    ferry_translator *translator;
    ferry_result *result;
    char *line = NULL;
    size_t capacity = 0;
    ssize_t size;
    if (argc != 2) return 2;
    if (ferry_model_open(argv[1], 0, &model, &error) != FERRY_OK) return complain(&error);
    if (ferry_translator_create(model, NULL, &translator, &error) != FERRY_OK) return complain(&error);
    while ((size = getline(&line, &capacity, stdin)) > 0) {
        const ferry_text markup = {line, (size_t)size};
        if (ferry_translate_markup(translator, markup, &result, &error) != FERRY_OK) return complain(&error);
        const ferry_text text = ferry_result_text(result, 0, 0);
        if (fwrite(text.data, 1, text.size, stdout) != text.size) return 1;
        ferry_result_destroy(result);
    }
    free(line);
    ferry_translator_destroy(translator);
    ferry_model_close(model);
    return fflush(stdout) == 0 ? 0 : 1;
}
