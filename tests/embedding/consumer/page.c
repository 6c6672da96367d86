/* page MODEL FORMAT TEXT: a document, translated. */
#include <ferry_documents.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    ferry_error error = {FERRY_ERROR_ARGUMENT, "usage: page MODEL FORMAT TEXT", NULL};
    ferry_model *model = NULL;
    ferry_translator *translator = NULL;
    ferry_document_result *result = NULL;
    if (argc == 4 && ferry_model_open(argv[1], 0, &model, &error) == FERRY_OK &&
        ferry_translator_create(model, NULL, &translator, &error) == FERRY_OK) {
        const ferry_text page = {argv[3], strlen(argv[3])};
        ferry_document_translate(model, translator, argv[2], page, NULL, &result, &error);
    }
    const int failed = result == NULL;
    if (failed)
        fprintf(stderr, "%s: %s\n", ferry_status_name(error.status), error.message);
    else
        puts(ferry_document_result_text(result).data);
    ferry_document_result_destroy(result);
    ferry_translator_destroy(translator);
    ferry_model_close(model);
    return failed;
}
