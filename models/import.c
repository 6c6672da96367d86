#define _XOPEN_SOURCE 700 /* realpath, opendir */
#include "import.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "import_plan.h"
#include "printable.h"

/* The names of folders below `source` that hold a model, "a, b", in `list`. */
static void list_models(const char *source, char *list, size_t size)
{
    struct dirent **entries;
    size_t at = 0;
    list[0] = '\0';
    const int count = scandir(source, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char path[4096];
        const int length = snprintf(path, sizeof path, "%s/%s/config.json", source, entries[i]->d_name);
        const bool is_model = entries[i]->d_name[0] != '.' && length < (int)sizeof path && access(path, F_OK) == 0;
        if (is_model && at < size) {
            at += (size_t)snprintf(list + at, size - at, "%s%s", at > 0 ? ", " : "", entries[i]->d_name);
        }
        free(entries[i]);
    }
    if (count >= 0) free(entries);
}

static ferry_status check_source(const char *source, ferry_error *error)
{
    struct stat information;
    char models[256];
    if (stat(source, &information) != 0) {
        return ferry_fail(error, FERRY_ERROR_IO, "%s: cannot open: %s", source, strerror(errno));
    }
    if (!S_ISDIR(information.st_mode)) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: expected the directory of a model, found a file",
                          source);
    }
    list_models(source, models, sizeof models);
    if (models[0] == '\0') return FERRY_OK;
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: holds several models: name one of them: %s", source, models);
}

static ferry_status read_source(ferry_import_plan *plan, ferry_error *error)
{
    ferry_json config;
    const char *format = NULL, *model_type = NULL;
    if (!ferry_import_has_file(plan, "config.json")) {
        FERRY_TRY(check_source(plan->directory, error));
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: no model that Ferry knows: config.json is missing",
                          plan->directory);
    }
    FERRY_TRY(ferry_import_json(plan, "config.json", &config, error));
    FERRY_TRY(ferry_json_text(config, "format", &format, error));
    FERRY_TRY(ferry_json_text(config, "model_type", &model_type, error));
    if (format != NULL && strcmp(format, "seq2seq-export-1") == 0) {
        return ferry_import_export_layout(plan, config, error);
    }
    if (model_type != NULL && strcmp(model_type, "marian") == 0) return ferry_import_huggingface(plan, config, error);
    const char *key = model_type != NULL ? "model_type" : "format";
    const char *found = model_type != NULL ? model_type : format;
    if (found == NULL) {
        return ferry_fail(error, FERRY_ERROR_UNSUPPORTED, "%s: expected 'model_type' or 'format', found neither",
                          config.file);
    }
    return ferry_fail(error, FERRY_ERROR_UNSUPPORTED,
                      "%s: expected model_type 'marian' or format 'seq2seq-export-1', found %s '%s'", config.file, key,
                      ferry_printable_view((ferry_view){found, strlen(found)}).text);
}

ferry_status ferry_import(const char *source, const char *output, const ferry_import_options *options,
                          ferry_error *error)
{
    static const ferry_import_options defaults = {.type = FERRY_F32};
    if (options == NULL) options = &defaults;
    if (options->type != FERRY_F32 && options->type != FERRY_F16) {
        return ferry_fail(error, FERRY_ERROR_ARGUMENT, "type: expected f32 or f16, found %s",
                          ferry_type_name(options->type));
    }
    char *directory = realpath(source, NULL);
    if (directory == NULL) {
        return ferry_fail(error, FERRY_ERROR_IO, "%s: cannot open: %s", source, strerror(errno));
    }
    ferry_import_plan plan = {.directory = source, .name = strrchr(directory, '/') + 1};
    const char *name = options->name != NULL ? options->name : plan.name;
    ferry_status status = read_source(&plan, error);
    if (status == FERRY_OK) status = ferry_import_licence(&plan, error);
    if (status == FERRY_OK) status = ferry_import_write(&plan, output, options->type, name, error);
    ferry_import_plan_destroy(&plan);
    free(directory);
    return status;
}
