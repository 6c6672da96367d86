/* print_ids MODEL [FROM [TO]] < LINES: the source ids of each line, after its length in 4 bytes: a line may hold
 * anything. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/ferry.h"
#include "engine/ferry_inspect.h"

static int fail(const ferry_error *error)
{
    fprintf(stderr, "print_ids: %s\n", error->message);
    return 1;
}

int main(int count, char **arguments)
{
    ferry_model *model;
    ferry_error error;
    uint32_t size;
    if (count < 2) return 2;
    if (ferry_model_open(arguments[1], 0, &model, &error) != FERRY_OK) return fail(&error);
    while (fread(&size, sizeof size, 1, stdin) == 1) {
        char *line = malloc((size_t)size + 1);
        int32_t *ids;
        size_t found;
        if (line == NULL || fread(line, 1, size, stdin) != size) return 2;
        const ferry_text text = {line, size};
        if (ferry_inspect_tokenize(model, text, count > 2 ? arguments[2] : NULL, count > 3 ? arguments[3] : NULL, &ids,
                                   &found, &error) != FERRY_OK)
            return fail(&error);
        for (size_t i = 0; i < found; i++) printf("%s%" PRId32, i > 0 ? " " : "", ids[i]);
        puts("");
        ferry_inspect_free(ids);
        free(line);
    }
    ferry_model_close(model);
    return 0;
}
