#include "translator_session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/files/file_system.h"
#include "base/threads.h"
#include "conversion_cache.h"
#include "glossary_file.h"
#include "engine/ferry_inspect.h"
#include "engine/kernels/kernels.h"
#include "output_file.h"
#include "tools/system/folders.h"
#include "tools/system/terminal.h"

/* ---- models ---- */

#define SHIPPED "tatoeba-en-de.gguf"
#define NO_MODEL "no model: use -m FILE or set FERRY_MODEL"

/* `role`: what names the model; `note` ends a message about the file. A conversion that proves damaged is removed, and
 * made once more. */
static ferry_model *open_model(const ferry_call *call, const char *path, const char *role, const char *note)
{
    const bool quiet = ferry_is_given(call, FERRY_OPTION_QUIET);
    char file[FERRY_PATH_MAX];
    ferry_model *model;
    ferry_error error;
    ferry_status status = FERRY_OK;
    const char *isa = ferry_environment("FERRY_ISA");
    if (ferry_model_is_output(call, path, role)) return NULL;
    for (bool repeated = false, again = true; again; repeated = true) {
        int descriptor;
        if (!ferry_find_model_file(path, quiet, &descriptor, file)) return NULL;
        const bool written = descriptor >= 0 && ferry_input_is_output(call, file, role);
        if (!written)
            status = descriptor >= 0 ? ferry_inspect_open_fd(descriptor, file, isa, &model, &error)
                                     : ferry_inspect_open(path, isa, NULL, &model, &error);
        if (descriptor >= 0) ferry_descriptor_close(descriptor);
        if (written) return NULL;
        again = status == FERRY_ERROR_FORMAT && descriptor >= 0 && !repeated && ferry_file_remove(file);
        if (again && !quiet) ferry_complain("%s; it is removed, and %s is converted once more", error.message, path);
    }
    if (status == FERRY_ERROR_ARGUMENT)
        ferry_complain("FERRY_ISA: kernels '%s': unknown, or this machine cannot run them; known are " FERRY_ISA_NAMES,
                       isa);
    else if (status != FERRY_OK)
        ferry_complain("%s%s", error.message, note);
    return status == FERRY_OK ? model : NULL;
}

ferry_model *ferry_open_model(const ferry_call *call, const char *path)
{
    return open_model(call, path, "MODEL", "");
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
    if (!ferry_program_path(directory, sizeof directory)) snprintf(directory, sizeof directory, "%s", program);
    char *slash = strrchr(directory, '/');
    *(slash != NULL ? slash : directory) = '\0';
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

/* ---- two models: the translations of one are translated by the other ---- */

/* The names of the language between, for each of the two. NULL: the model's default. */
typedef struct between_languages {
    const char *to, *from;
} between_languages;

bool ferry_second_model_check(const ferry_call *call)
{
    const int refused[] = {FERRY_OPTION_ALIGNMENT, FERRY_OPTION_PREFIX, FERRY_OPTION_PREFIXES, FERRY_OPTION_IDS,
                           (int)ferry_search_option("nbest")};
    if (call->arguments.second_model == NULL) {
        if (!ferry_is_given(call, FERRY_OPTION_VIA)) return true;
        ferry_complain("translate: --via: expected a second --model with it");
        return false;
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (!ferry_is_given(call, (ferry_option)refused[i])) continue;
        ferry_complain("translate: expected %s or a second model, found both",
                       ferry_option_typed(&call->arguments, refused[i]).text);
        return false;
    }
    return true;
}

/* Language `index` of the model, if it has this role. */
static const ferry_language *language_of(const ferry_model *model, size_t index, ferry_language_role role)
{
    const ferry_language *language = ferry_model_language(model, index);
    return language != NULL && (language->roles & (int)role) != 0 ? language : NULL;
}

static bool are_one(const ferry_language *a, const ferry_language *b)
{
    return strcmp(a->tag, b->tag) == 0 || (a->english[0] != '\0' && strcmp(a->english, b->english) == 0);
}

/* How many languages one translates into and the other from; `between`: the first, or else the one that is the default
 * of both. The names of the first ones are appended to `names`. */
static size_t count_shared(const ferry_model *first, const ferry_model *second, between_languages *between, char *names,
                           size_t size)
{
    enum { MOST_NAMES = 5 };
    size_t count = 0, length = 0;
    bool usual = false;
    names[0] = '\0';
    for (size_t i = 0; i < ferry_model_language_count(first); i++)
        for (size_t k = 0; k < ferry_model_language_count(second); k++) {
            const ferry_language *into = language_of(first, i, FERRY_LANGUAGE_TARGET),
                                 *from = language_of(second, k, FERRY_LANGUAGE_SOURCE);
            if (into == NULL || from == NULL || !are_one(into, from)) continue;
            const bool both = (into->roles & FERRY_LANGUAGE_DEFAULT_TARGET) != 0 &&
                              (from->roles & FERRY_LANGUAGE_DEFAULT_SOURCE) != 0;
            if (count == 0 || both) *between = (between_languages){into->tag, from->tag};
            usual = usual || both;
            if (count++ < MOST_NAMES && length < size)
                length += (size_t)snprintf(names + length, size - length, " %s", into->tag);
        }
    return usual ? 1 : count;
}

/* Finds the language of --via, else the one that the first model translates into and the second from. Prints a message
 * and returns false if there is none or if there are several. */
static bool find_between(const ferry_call *call, const ferry_model *first, const ferry_model *second,
                         between_languages *between)
{
    char names[200];
    const char *via = ferry_option_text(call, FERRY_OPTION_VIA);
    *between = (between_languages){via, via};
    if (via != NULL) return true;
    if (ferry_model_language_count(first) == 0 || ferry_model_language_count(second) == 0) {
        if (!ferry_is_given(call, FERRY_OPTION_QUIET))
            ferry_complain("the models do not say which languages they translate: the second is expected to read what "
                           "the first writes");
        return true;
    }
    const size_t shared = count_shared(first, second, between, names, sizeof names);
    if (shared == 0)
        ferry_complain("the second model translates from no language that the first translates into; `ferry languages` "
                       "lists those of each");
    else if (shared > 1)
        ferry_complain("--via: expected one of the %zu languages that both models have:%s%s", shared, names,
                       shared > 5 ? " …" : "");
    return shared == 1;
}

/* ---- translators ---- */

static void set_options(const ferry_call *call, const ferry_session_needs *needs, ferry_session *session)
{
    ferry_options *options = &session->options;
    options->search = &session->search;
    options->scores = needs->scores != FERRY_SCORES_NONE;
    if (needs->scores == FERRY_SCORES_SUM) options->length_penalty = session->search.word_penalty = 0;
    options->on_loop = needs->on_loop;
    options->progress = needs->progress;
    options->user = needs->user;
    options->alignment = ferry_is_given(call, FERRY_OPTION_ALIGNMENT) ? 1 : 0;
    if (ferry_option_is_taken(call->arguments.taken, (int)ferry_search_option("split")))
        options->split = FERRY_SPLIT_AUTO;
    ferry_arguments_apply(&call->arguments, options, &session->search);
    if (ferry_is_given(call, FERRY_OPTION_SEED))
        options->seed = (uint64_t)call->arguments.options[FERRY_OPTION_SEED].integer;
    /* Draws and alternatives are made without a beam, n-best lists need one. */
    const bool beam_given = ferry_is_given(call, ferry_search_option("beam"));
    if (!beam_given && (options->sample != 0 || options->alternatives != 0))
        options->beam = 1;
    else if (!beam_given && ferry_is_given(call, ferry_search_option("nbest")) && options->beam < options->nbest)
        options->beam = options->nbest;
    /* More threads than processors take each other's caches, and translate smaller batches. */
    if (options->threads > ferry_processors()) options->threads = ferry_processors();
}

/* `options`, `search`: the session's, which keep what the last of its translators has. */
static ferry_status create_one(const ferry_call *call, const ferry_session_needs *needs, const ferry_model *model,
                               const between_languages *between, ferry_session *session, ferry_translator **translator,
                               ferry_error *error)
{
    ferry_options *options = &session->options;
    ferry_options_default(model, options, sizeof *options);
    ferry_search_options_default(model, &session->search, sizeof session->search);
    set_options(call, needs, session);
    if (model == session->model) options->glossary = session->glossary;
    if (between != NULL && model == session->model) options->to = between->to;
    if (between != NULL && model == session->second) options->from = between->from;
    ferry_status status = ferry_translator_create(model, options, translator, error);
    if (status == FERRY_ERROR_ARGUMENT && options->from == NULL && ferry_is_given(call, FERRY_OPTION_IDS)) {
        options->from = ""; /* the source's tag is among its ids */
        status = ferry_translator_create(model, options, translator, error);
    }
    return status;
}

static ferry_status create_two(const ferry_call *call, const ferry_session_needs *needs,
                               const between_languages *between, ferry_session *session, ferry_error *error)
{
    ferry_session_needs first_needs = *needs;
    ferry_translator *first, *second;
    first_needs.scores = FERRY_SCORES_NONE;
    FERRY_TRY(create_one(call, &first_needs, session->model, between, session, &first, error));
    ferry_status status = create_one(call, needs, session->second, between, session, &second, error);
    if (status == FERRY_OK) {
        status = ferry_translator_then(first, second, &session->translator, error);
        if (status != FERRY_OK) ferry_translator_destroy(second);
    }
    if (status != FERRY_OK) ferry_translator_destroy(first);
    return status;
}

static bool create_translator(const ferry_call *call, const ferry_session_needs *needs, ferry_session *session)
{
    ferry_error error;
    between_languages between;
    if (session->second != NULL && !find_between(call, session->model, session->second, &between)) return false;
    const ferry_status status =
        session->second != NULL ? create_two(call, needs, &between, session, &error)
                                : create_one(call, needs, session->model, NULL, session, &session->translator, &error);
    if (status != FERRY_OK) ferry_arguments_complain(&call->arguments, &error);
    return status == FERRY_OK;
}

bool ferry_session_open(const ferry_call *call, const ferry_session_needs *needs, ferry_session *session)
{
    const char *second = call->arguments.second_model, *glossary = ferry_option_text(call, FERRY_OPTION_GLOSSARY);
    memset(session, 0, sizeof *session);
    if (glossary != NULL && !ferry_glossary_file_read(glossary, &session->glossary)) return false;
    session->model = needs->path != NULL ? ferry_open_model(call, needs->path) : ferry_open_wanted_model(call);
    if (session->model != NULL && second != NULL) session->second = ferry_open_model(call, second);
    if (session->model != NULL && (second == NULL || session->second != NULL) &&
        create_translator(call, needs, session))
        return true;
    ferry_session_close(session);
    return false;
}

const ferry_model *ferry_session_writer(const ferry_session *session)
{
    return session->second != NULL ? session->second : session->model;
}

bool ferry_session_is_damaged(const ferry_session *session)
{
    ferry_error error;
    if (ferry_model_verify(session->model, &error) != FERRY_ERROR_FORMAT) return false;
    ferry_complain("%s; translations cannot be trusted", error.message);
    return true;
}

void ferry_session_close(ferry_session *session)
{
    ferry_translator_destroy(session->translator);
    ferry_glossary_destroy(session->glossary);
    ferry_model_close(session->second);
    ferry_model_close(session->model);
    memset(session, 0, sizeof *session);
}
