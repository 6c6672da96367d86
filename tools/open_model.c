#include "open_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_system.h"
#include "base/terminal.h"
#include "engine/ferry_inspect.h"
#include "engine/kernels/kernels.h"
#include "conversion_cache.h"
#include "output_file.h"

#define SHIPPED "tatoeba-en-de.gguf"
#define NO_MODEL "no model: use -m FILE or set FERRY_MODEL"

/* `role`: what names the model; `note` ends a message about the file. */
static ferry_model *open_model(const ferry_call *call, const char *path, const char *role, const char *note)
{
    char file[FERRY_PATH_MAX];
    int descriptor;
    ferry_model *model;
    ferry_error error;
    const char *isa = ferry_environment("FERRY_ISA");
    if (ferry_model_is_output(call, path, role)) return NULL;
    if (!ferry_find_model_file(path, ferry_is_given(call, FERRY_OPTION_QUIET), &descriptor, file)) return NULL;
    const bool written = descriptor >= 0 && ferry_input_is_output(call, file, role);
    const ferry_status status = written           ? FERRY_ERROR_IO
                                : descriptor >= 0 ? ferry_inspect_open_fd(descriptor, file, isa, &model, &error)
                                                  : ferry_inspect_open(path, isa, NULL, &model, &error);
    if (descriptor >= 0) ferry_descriptor_close(descriptor);
    if (written) return NULL;
    if (status == FERRY_ERROR_ARGUMENT)
        ferry_complain("FERRY_ISA: %s; known are " FERRY_ISA_NAMES, error.message);
    else if (status != FERRY_OK)
        ferry_complain("%s%s", error.message, note);
    return model;
}

ferry_model *ferry_open_model(const ferry_call *call, const char *path)
{
    return open_model(call, path, "MODEL", "");
}

/* The directory of the executable; "" if it is unknown. */
static void find_program_directory(const char *program, char *directory, size_t size)
{
    if (!ferry_program_path(directory, size)) snprintf(directory, size, "%s", program);
    char *slash = strrchr(directory, '/');
    if (slash == NULL) slash = directory;
    *slash = '\0';
}

/* Looks for the model that ships in the places where it lies relative to a build folder, in a source tree, or in an
 * installation. */
static bool find_shipped(const char *program, char *path, size_t size)
{
    static const char *const places[] = {"models/pretrained/", "../models/pretrained/", "../../models/pretrained/",
                                         "../share/ferry/"};
    enum { PLACES = sizeof places / sizeof *places };
    char directory[FERRY_PATH_MAX];
    ferry_file_info found;
    find_program_directory(program, directory, sizeof directory);
    if (directory[0] == '\0') {
        ferry_complain(NO_MODEL);
        return false;
    }
    for (size_t i = 0; i < PLACES; i++) {
        const int length = snprintf(path, size, "%s/%s" SHIPPED, directory, places[i]);
        if (length > 0 && (size_t)length < size && ferry_file_examine(path, &found)) return true;
    }
    ferry_complain(NO_MODEL "; " SHIPPED " was not found in any of");
    for (size_t i = 0; i < PLACES; i++) ferry_complain("  %s/%s", directory, places[i]);
    return false;
}

ferry_model *ferry_open_wanted_model(const ferry_call *call)
{
    char path[FERRY_PATH_MAX + 64];
    const char *option = ferry_option_text(call, FERRY_OPTION_MODEL);
    if (option != NULL)
        return open_model(call, option, ferry_option_typed(&call->arguments, FERRY_OPTION_MODEL).text, "");
    const char *variable = ferry_environment("FERRY_MODEL");
    if (variable != NULL && variable[0] != '\0')
        return open_model(call, variable, "FERRY_MODEL", " (named by FERRY_MODEL)");
    return find_shipped(call->program, path, sizeof path) ? open_model(call, path, "the model that ships", "") : NULL;
}
