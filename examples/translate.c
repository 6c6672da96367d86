/* translate MODEL TEXT [FROM TO]: one sentence through libferry; FROM and TO name languages of a model that has
 * several. Build: cc translate.c $(pkg-config --cflags --libs ferry) */
#include <ferry.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    ferry_error error = {FERRY_OK, "usage: translate MODEL TEXT [FROM TO]", NULL};
    ferry_model *model = NULL;
    ferry_options options;
    ferry_translator *translator = NULL;
    ferry_result *result = NULL;
    if ((argc == 3 || argc == 5) && ferry_model_open(argv[1], 0, &model, &error) == FERRY_OK) {
        ferry_options_default(model, &options, sizeof options);
        if (argc == 5) {
            options.from = argv[3];
            options.to = argv[4];
        }
        const ferry_text line = {argv[2], strlen(argv[2])};
        if (ferry_translator_create(model, &options, &translator, &error) == FERRY_OK)
            ferry_translate(translator, &line, 1, &result, &error);
    }
    const int failed = result == NULL || ferry_result_outcome(result, 0)->status != FERRY_OK;
    if (!failed)
        puts(ferry_result_text(result, 0, 0).data);
    else
        fprintf(stderr, "%s\n", result != NULL ? ferry_result_outcome(result, 0)->error : error.message);
    ferry_result_destroy(result);
    ferry_translator_destroy(translator);
    ferry_model_close(model);
    return failed;
}
