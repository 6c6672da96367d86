/* consumer MODEL TEXT: the translation, with every bit of its score. */
#include <ferry.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    ferry_error error = {FERRY_OK, "usage: consumer MODEL TEXT", NULL};
    ferry_model *model = NULL;
    ferry_options options;
    ferry_translator *translator = NULL;
    ferry_result *result = NULL;
    if (argc == 3 && ferry_model_open(argv[1], 0, &model, &error) == FERRY_OK) {
        ferry_options_default(model, &options, sizeof options);
        options.scores = 1;
        const ferry_text line = {argv[2], strlen(argv[2])};
        if (ferry_translator_create(model, &options, &translator, &error) == FERRY_OK)
            ferry_translate(translator, &line, 1, &result, &error);
    }
    if (result != NULL) {
        const ferry_text text = ferry_result_text(result, 0, 0);
        printf("%a %.*s\n", (double)ferry_result_score(result, 0, 0), (int)text.size, text.data);
    } else {
        fprintf(stderr, "%s\n", error.message);
    }
    ferry_result_destroy(result);
    ferry_translator_destroy(translator);
    ferry_model_close(model);
    return result != NULL ? 0 : 1;
}
