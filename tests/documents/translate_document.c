/* What tests/documents/check.py runs: standard input as a document of FORMAT to standard output, with a function in the
 * place of a model.
 *     translate_document FORMAT same|upper|longer
 *     translate_document html same MODEL
 * HTML is translated by the library: without memory for it, so that all its sentences stay as they are. */
#include "tests/support/document_support.h"

static ferry_string read_all(FILE *in)
{
    ferry_string text = {0};
    char bytes[4096];
    for (size_t size; (size = fread(bytes, 1, sizeof bytes, in)) > 0;)
        CHECK(ferry_string_append(&text, (ferry_view){bytes, size}, &error));
    return text;
}

static ferry_string translate_html(const char *path, ferry_text markup)
{
    ferry_model *model;
    ferry_options options;
    ferry_translator *translator;
    ferry_result *result;
    ferry_string out = {0};
    CHECK(ferry_model_open(path, 0, &model, &error));
    CHECK(ferry_options_default(model, &options, sizeof options));
    options.memory_limit = 1;
    CHECK(ferry_translator_create(model, &options, &translator, &error));
    CHECK(ferry_translate_markup(translator, markup, &result, &error));
    const ferry_text text = ferry_result_text(result, 0, 0);
    CHECK(ferry_string_append(&out, (ferry_view){text.data, text.size}, &error));
    ferry_result_destroy(result);
    ferry_translator_destroy(translator);
    ferry_model_close(model);
    return out;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        markup_function *translate;
    } ways[] = {{"same", same_markup}, {"upper", upper_markup}, {"longer", longer_markup}};
    if (argc < 3 || ferry_document_format_named(argv[1]) == NULL) return 2;
    size_t way = 0, warnings = 0;
    while (way < 2 && strcmp(ways[way].name, argv[2]) != 0) way++;
    ferry_string in = read_all(stdin);
    ferry_string out = argc > 3 ? translate_html(argv[3], (ferry_text){in.data, in.size})
                                : translate_document(ferry_document_format_named(argv[1]),
                                                     (ferry_view){in.data, in.size}, ways[way].translate, &warnings);
    const bool written = fwrite(out.data, 1, out.size, stdout) == out.size && fflush(stdout) == 0;
    free(in.data);
    free(out.data);
    return written ? 0 : 1;
}
