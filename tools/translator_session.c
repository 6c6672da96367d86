#include "translator_session.h"

#include <string.h>

#include "base/status.h"
#include "base/threads.h"
#include "open_model.h"
#include "second_model.h"

/* Draws and alternatives are made without a beam, n-best lists need one. */
static void choose_beam(const ferry_call *call, ferry_options *options)
{
    if (ferry_is_given(call, ferry_search_option("beam"))) return;
    if (options->sample != 0 || options->alternatives != 0)
        options->beam = 1;
    else if (ferry_is_given(call, ferry_search_option("nbest")) && options->beam < options->nbest)
        options->beam = options->nbest;
}

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
    choose_beam(call, options);
    /* More threads than processors take each other's caches, and translate smaller batches. */
    if (options->threads > ferry_processors()) options->threads = ferry_processors();
}

/* `options`, `search`: the session's, which keep what the last of its translators has. */
static ferry_status create_one(const ferry_call *call, const ferry_session_needs *needs, const ferry_model *model,
                               const ferry_between *between, ferry_session *session, ferry_translator **translator,
                               ferry_error *error)
{
    ferry_options *options = &session->options;
    ferry_options_default(model, options, sizeof *options);
    ferry_search_options_default(model, &session->search, sizeof session->search);
    set_options(call, needs, session);
    if (between != NULL && model == session->model) options->to = between->to;
    if (between != NULL && model == session->second) options->from = between->from;
    ferry_status status = ferry_translator_create(model, options, translator, error);
    if (status == FERRY_ERROR_ARGUMENT && options->from == NULL && ferry_is_given(call, FERRY_OPTION_IDS)) {
        options->from = ""; /* the source's tag is among its ids */
        status = ferry_translator_create(model, options, translator, error);
    }
    return status;
}

static ferry_status create_two(const ferry_call *call, const ferry_session_needs *needs, const ferry_between *between,
                               ferry_session *session, ferry_error *error)
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
    ferry_between between;
    if (session->second != NULL && !ferry_second_model_meet(call, session->model, session->second, &between))
        return false;
    const ferry_status status =
        session->second != NULL ? create_two(call, needs, &between, session, &error)
                                : create_one(call, needs, session->model, NULL, session, &session->translator, &error);
    if (status != FERRY_OK) ferry_arguments_complain(&call->arguments, error.message);
    return status == FERRY_OK;
}

bool ferry_session_open(const ferry_call *call, const ferry_session_needs *needs, ferry_session *session)
{
    const char *second = call->arguments.second_model;
    memset(session, 0, sizeof *session);
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

void ferry_session_close(ferry_session *session)
{
    ferry_translator_destroy(session->translator);
    ferry_model_close(session->second);
    ferry_model_close(session->model);
    memset(session, 0, sizeof *session);
}
