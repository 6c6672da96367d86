/* What tests/documents/check.py runs: standard input as a document of FORMAT to standard output, with a
 * stand-in for the library.
 *     translate_document FORMAT same|upper|longer
 */
#include "document_support.h"

static ferry_string read_all(FILE *in)
{
    ferry_string text = {0};
    char bytes[4096];
    for (size_t size; (size = fread(bytes, 1, sizeof bytes, in)) > 0;)
        CHECK(ferry_string_append(&text, (ferry_view){bytes, size}, &error));
    return text;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        stand_in_way way;
    } ways[] = {{"same", STAND_IN_SAME}, {"upper", STAND_IN_UPPER}, {"longer", STAND_IN_LONGER}};
    if (argc < 3 || ferry_document_format_named(argv[1]) == NULL) return 2;
    size_t way = 0;
    while (way < 2 && strcmp(ways[way].name, argv[2]) != 0) way++;
    ferry_string in = read_all(stdin);
    ferry_string out =
        translate_document(ferry_document_format_named(argv[1]), (ferry_view){in.data, in.size}, ways[way].way, NULL);
    const bool written = fwrite(out.data, 1, out.size, stdout) == out.size && fflush(stdout) == 0;
    free(in.data);
    free(out.data);
    return written ? 0 : 1;
}
