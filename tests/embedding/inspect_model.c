/* inspect_model MODEL: its positional encoding, through libferry_inspect. */
#include <ferry_inspect.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    ferry_error error = {FERRY_OK, "usage: inspect_model MODEL", NULL};
    ferry_model *model = NULL;
    ferry_text text = {NULL, 0};
    if (argc == 2 && ferry_inspect_open(argv[1], "plain", NULL, &model, &error) == FERRY_OK)
        ferry_inspect_describe(model, &text, &error);
    if (text.data != NULL)
        fwrite(text.data, 1, text.size, stdout);
    else
        fprintf(stderr, "%s\n", error.message);
    ferry_inspect_free(text.data);
    ferry_model_close(model);
    return text.data != NULL ? 0 : 1;
}
