#define _XOPEN_SOURCE 700 /* realpath */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../models/import.h"
#include "command.h"

/* "NAME.gguf" in the current directory, NAME being the source's own. */
static bool derive_output(const char *source, char *output, size_t size)
{
    char resolved[PATH_MAX];
    struct stat existing;
    if (realpath(source, resolved) == NULL) {
        ferry_complain("%s: cannot open: %s", source, strerror(errno));
        return false;
    }
    const char *name = strrchr(resolved, '/') + 1;
    snprintf(output, size, "%s.gguf", name[0] != '\0' ? name : "model");
    if (lstat(output, &existing) != 0) return true;
    ferry_complain("%s: exists; choose a name with --output (which replaces a file)", output);
    return false;
}

static int run(const ferry_call *call)
{
    static const ferry_type types[] = {FERRY_F32, FERRY_F16}; /* in the order of --type's choices */
    const ferry_arguments *arguments = &call->arguments;
    const char *source = arguments->operands[0], *output = arguments->options[FERRY_OPTION_OUTPUT].text;
    const ferry_import_options options = {.type = types[arguments->options[FERRY_OPTION_TYPE].integer]};
    char derived[PATH_MAX + 8];
    struct stat written;
    ferry_error error;
    if (output == NULL) {
        if (!derive_output(source, derived, sizeof derived)) return FERRY_EXIT_FAILED;
        output = derived;
    } else if (ferry_same_file(source, output)) {
        ferry_complain("%s: is the source, too", output);
        return FERRY_EXIT_FAILED;
    }
    if (ferry_import(source, output, &options, &error) != FERRY_OK) {
        ferry_complain("%s", error.message);
        return FERRY_EXIT_FAILED;
    }
    if (!arguments->options[FERRY_OPTION_QUIET].given && stat(output, &written) == 0)
        printf("%s: %.1f MB\n", output, (double)written.st_size / 1e6);
    return ferry_finish_output(FERRY_EXIT_OK);
}

const ferry_command ferry_command_convert = {
    .name = "convert",
    .synopsis = "SOURCE",
    .summary = "make a model file of what others publish",
    .details = "SOURCE is a directory: a MarianMT model of Hugging Face, or a seq2seq-export-1 (docs/model-file.md).\n"
               "Without --output the file is named after it, in the current directory, and must not exist yet.\n"
               "--type f32 keeps the numbers as they are (the default); f16 takes half the space.\n",
    .options = FERRY_TAKES(FERRY_OPTION_OUTPUT) | FERRY_TAKES(FERRY_OPTION_TYPE) | FERRY_TAKES(FERRY_OPTION_QUIET),
    .least = 1,
    .most = 1,
    .run = run,
};
