/* How many texts of documents a model translates: count_texts MODEL FORMAT < paths, a line each. Prints those that
 * stay, and at the end the counts. */
#include <stdio.h>
#include <string.h>

#include "documents/ferry_documents.h"

enum { MOST_BYTES = 1 << 20 };

static void print_left(const char *path, ferry_text source, const ferry_document_note *note)
{
    const char *begin = source.data + note->offset;
    const size_t rest = source.size - note->offset;
    const char *end = memchr(begin, '\n', rest);
    printf("%s:%zu: %s: %.*s\n", path, note->line, note->message, (int)(end != NULL ? end - begin : 0), begin);
}

int main(int argc, char **argv)
{
    static char bytes[MOST_BYTES];
    char path[4096];
    ferry_document_counts sum = {0};
    ferry_model *model;
    ferry_translator *translator;
    ferry_options options;
    if (argc != 3 || ferry_model_open(argv[1], 0, &model, NULL) != FERRY_OK) return 2;
    ferry_options_default(model, &options, sizeof options);
    options.on_loop = FERRY_ON_LOOP_RETRY; /* as the program has it */
    if (ferry_translator_create(model, &options, &translator, NULL) != FERRY_OK) return 2;
    while (fgets(path, sizeof path, stdin) != NULL) {
        path[strcspn(path, "\n")] = '\0';
        FILE *file = fopen(path, "rb");
        ferry_document_result *result;
        const ferry_document_note *note;
        if (file == NULL) continue;
        const ferry_text source = {bytes, fread(bytes, 1, sizeof bytes, file)};
        fclose(file);
        if (ferry_document_translate(model, translator, argv[2], source, NULL, &result, NULL) != FERRY_OK) continue;
        for (size_t i = 0; (note = ferry_document_result_note(result, i)) != NULL; i++)
            if (note->left) print_left(path, source, note);
        const ferry_document_counts counts = ferry_document_result_counts(result);
        sum.translated += counts.translated;
        sum.kept += counts.kept;
        sum.left += counts.left;
        ferry_document_result_destroy(result);
    }
    printf("%zu translated, %zu kept, %zu left\n", sum.translated, sum.kept, sum.left);
    ferry_translator_destroy(translator);
    ferry_model_close(model);
    return 0;
}
