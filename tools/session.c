#define _POSIX_C_SOURCE 200809L
#include "session.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/ferry_inspect.h"
#include "conversion.h"

#define SHIPPED "tatoeba-en-de.gguf"

/* ---- the model ---- */

/* `note` ends a message about the file. */
static ferry_model *open_model(const ferry_call *call, const char *path, const char *note)
{
    char file[PATH_MAX];
    ferry_model *model;
    ferry_error error;
    const char *isa = getenv("FERRY_ISA");
    if (!ferry_find_model_file(path, call->arguments.options[FERRY_OPTION_QUIET].given, file, sizeof file)) return NULL;
    const ferry_status status = ferry_inspect_open(file, isa, &model, &error);
    if (status == FERRY_ERROR_ARGUMENT)
        ferry_complain("FERRY_ISA: %s; known are plain, avx2, avxvnni, avx512, avx512vnni, amx, neon, neon_dotprod",
                       error.message);
    else if (status != FERRY_OK)
        ferry_complain("%s%s", error.message, note);
    return model;
}

ferry_model *ferry_open_model(const ferry_call *call, const char *path)
{
    return open_model(call, path, "");
}

/* The directory of the executable, "" when that is not known. */
static void find_program_directory(const char *program, char *directory, size_t size)
{
    const ssize_t length = readlink("/proc/self/exe", directory, size - 1);
    if (length >= 0)
        directory[length] = '\0';
    else
        snprintf(directory, size, "%s", program);
    char *slash = strrchr(directory, '/');
    if (slash == NULL) slash = directory;
    *slash = '\0';
}

/* The shipped model's place in a build folder, a source tree, or an installation. */
static bool find_shipped(const char *program, char *path, size_t size)
{
    static const char *const places[] = {"models/pretrained", "../models/pretrained", "../../models/pretrained",
                                         "../share/ferry"};
    const size_t count = sizeof places / sizeof *places;
    char directory[PATH_MAX];
    find_program_directory(program, directory, sizeof directory);
    if (directory[0] == '\0') {
        ferry_complain("no model: use -m FILE or set FERRY_MODEL");
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        const int length = snprintf(path, size, "%s/%s/" SHIPPED, directory, places[i]);
        if (length > 0 && (size_t)length < size && access(path, F_OK) == 0) return true;
    }
    ferry_complain("no model: use -m FILE or set FERRY_MODEL; " SHIPPED " was not found in any of");
    for (size_t i = 0; i < count; i++) ferry_complain("  %s/%s", directory, places[i]);
    return false;
}

ferry_model *ferry_open_wanted_model(const ferry_call *call)
{
    char path[PATH_MAX + 64];
    const ferry_option_value *option = &call->arguments.options[FERRY_OPTION_MODEL];
    if (option->given) return ferry_open_model(call, option->text);
    const char *variable = getenv("FERRY_MODEL");
    if (variable != NULL && variable[0] != '\0') return open_model(call, variable, " (named by FERRY_MODEL)");
    return find_shipped(call->program, path, sizeof path) ? ferry_open_model(call, path) : NULL;
}

/* ---- the translator ---- */

static void set_integer(const ferry_arguments *arguments, ferry_option option, int32_t *field)
{
    if (arguments->options[option].given) *field = arguments->options[option].integer;
}

static void set_number(const ferry_arguments *arguments, ferry_option option, float *field)
{
    if (arguments->options[option].given) *field = arguments->options[option].number;
}

static void set_options(const ferry_arguments *arguments, ferry_options *options)
{
    options->from = arguments->options[FERRY_OPTION_FROM].text;
    options->to = arguments->options[FERRY_OPTION_TO].text;
    set_integer(arguments, FERRY_OPTION_BEAM, &options->beam);
    set_integer(arguments, FERRY_OPTION_NBEST, &options->nbest);
    set_number(arguments, FERRY_OPTION_LENGTH_PENALTY, &options->length_penalty);
    set_number(arguments, FERRY_OPTION_WORD_PENALTY, &options->word_penalty);
    set_integer(arguments, FERRY_OPTION_MAX_LENGTH, &options->max_length);
    set_integer(arguments, FERRY_OPTION_MIN_LENGTH, &options->min_length);
    set_number(arguments, FERRY_OPTION_REPETITION_PENALTY, &options->repetition_penalty);
    set_integer(arguments, FERRY_OPTION_NO_REPEAT_NGRAM, &options->no_repeat_ngram);
    set_integer(arguments, FERRY_OPTION_THREADS, &options->threads);
    set_integer(arguments, FERRY_OPTION_BATCH, &options->batch);
    if (arguments->options[FERRY_OPTION_NO_SHORTLIST].given) options->shortlist = 0;
    options->scores =
        arguments->options[FERRY_OPTION_SCORES].given || arguments->options[FERRY_OPTION_NBEST].given ? 1 : 0;
    const ferry_option_value *policy = &arguments->options[FERRY_OPTION_POLICY];
    if (policy->given) options->policy = (ferry_policy)policy->integer;
    const ferry_option_value *early = &arguments->options[FERRY_OPTION_EARLY_STOPPING];
    if (early->given) options->early_stopping = (ferry_early_stopping)early->integer;
    if (!arguments->options[FERRY_OPTION_BEAM].given && options->beam < options->nbest) options->beam = options->nbest;
}

static bool create_translator(const ferry_call *call, ferry_session *session)
{
    ferry_error error;
    ferry_options_default(session->model, &session->options);
    set_options(&call->arguments, &session->options);
    if (session->options.nbest > session->options.beam) {
        ferry_complain("--nbest: expected at most --beam, which is %d, found %d", (int)session->options.beam,
                       (int)session->options.nbest);
        return false;
    }
    if (ferry_translator_create(session->model, &session->options, &session->translator, &error) == FERRY_OK)
        return true;
    ferry_complain("%s", error.message);
    return false;
}

bool ferry_session_open(const ferry_call *call, ferry_session *session)
{
    memset(session, 0, sizeof *session);
    session->model = ferry_open_wanted_model(call);
    if (session->model == NULL) return false;
    if (create_translator(call, session)) return true;
    ferry_session_close(session);
    return false;
}

void ferry_session_close(ferry_session *session)
{
    ferry_translator_destroy(session->translator);
    ferry_model_close(session->model);
    memset(session, 0, sizeof *session);
}
