/* The public header alone, from C and from C++ (header_only.cc): header_only MODEL. MODEL is the one that ships. */
#include "ferry.h"

#include <stdio.h>
#include <string.h>

static int failures;

static void check(int holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "header_only: not so: %s\n", what);
    failures++;
}

#define CHECK(condition) check((condition) != 0, #condition)

static int is_text(ferry_text text, const char *expected)
{
    return text.size == strlen(expected) && memcmp(text.data, expected, text.size) == 0;
}

static void test_status_names(void)
{
    static const char *const names[] = {"no error",
                                        "invalid argument",
                                        "out of memory",
                                        "cannot read or write",
                                        "malformed file",
                                        "unsupported feature",
                                        "limit of the model exceeded",
                                        "cancelled",
                                        "unknown status"};
    for (int i = 0; i < 9; i++) CHECK(strcmp(ferry_status_name((ferry_status)i), names[i]) == 0);
}

static void test_version(void)
{
    int major, minor, patch;
    CHECK(strcmp(ferry_version(), FERRY_VERSION) == 0);
    CHECK(strcmp(ferry_version(), FERRY_CMAKE_VERSION) == 0);
    CHECK(sscanf(FERRY_VERSION, "%d.%d.%d", &major, &minor, &patch) == 3);
    CHECK(FERRY_VERSION_NUMBER == 1000000 * major + 1000 * minor + patch);
    CHECK(sizeof(ferry_error) == 504 + sizeof(char *) && offsetof(ferry_error, message) == 4);
}

static void test_missing_file(void)
{
    ferry_error error;
    ferry_model *model = (ferry_model *)&error; /* not NULL: open has to set it */
    CHECK(ferry_model_open("no-such-file.gguf", 0, &model, &error) == FERRY_ERROR_IO);
    CHECK(model == NULL);
    CHECK(error.status == FERRY_ERROR_IO);
    CHECK(strstr(error.message, "no-such-file.gguf") != NULL);
    CHECK(ferry_model_open("no-such-file.gguf", 0, &model, NULL) == FERRY_ERROR_IO);
    ferry_model_close(NULL);
    ferry_translator_destroy(NULL);
    ferry_result_destroy(NULL);
}

static void test_translation(const ferry_model *model)
{
    const ferry_text lines[] = {{"Hello, world!", 13}, {"  ", 2}, {"Hello,\xff world!", 14}};
    ferry_error error;
    ferry_translator *translator = NULL;
    ferry_result *result = NULL;
    CHECK(ferry_translator_create(model, NULL, &translator, &error) == FERRY_OK);
    CHECK(ferry_translate(translator, lines, 3, &result, &error) == FERRY_OK);
    CHECK(ferry_result_hypothesis_count(result, 0) == 1);
    CHECK(is_text(ferry_result_text(result, 0, 0), "Hallo, die Welt!"));
    CHECK(is_text(ferry_result_text(result, 1, 0), "  "));
    CHECK(ferry_result_outcome(result, 0)->warning == NULL && ferry_result_outcome(result, 2)->warning != NULL);
    CHECK(ferry_result_outcome(result, 2)->error == NULL);
    ferry_result_destroy(result);
    ferry_translator_destroy(translator);
}

int main(int argc, char **argv)
{
    ferry_error error;
    ferry_model *model;
    if (argc != 2) {
        fputs("usage: header_only MODEL\n", stderr);
        return 2;
    }
    test_status_names();
    test_version();
    test_missing_file();
    if (ferry_model_open(argv[1], 0, &model, &error) != FERRY_OK) {
        fprintf(stderr, "%s\n", error.message);
        return 1;
    }
    test_translation(model);
    ferry_model_close(model);
    return failures == 0 ? 0 : 1;
}
