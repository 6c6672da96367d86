#include "translator_session.h"

#include <string.h>

#include "open_model.h"

static void set_options(const ferry_call *call, ferry_options *options)
{
    const bool nbest = ferry_is_given(call, ferry_search_option("nbest"));
    options->scores = nbest ? 1 : 0; /* greedy search is faster without */
    ferry_arguments_apply(&call->arguments, options);
    if (nbest && !ferry_is_given(call, ferry_search_option("beam")) && options->beam < options->nbest)
        options->beam = options->nbest;
}

typedef int progress(void *user, size_t done, size_t total);

static bool create_translator(const ferry_call *call, progress *show, void *user, ferry_session *session)
{
    ferry_error error;
    ferry_options *options = &session->options;
    ferry_options_default(session->model, options, sizeof *options);
    set_options(call, options);
    options->progress = show;
    options->user = user;
    if (options->nbest > options->beam) {
        ferry_complain("--nbest: expected at most --beam, which is %d, found %d", (int)options->beam,
                       (int)options->nbest);
        return false;
    }
    return ferry_succeeded(ferry_translator_create(session->model, options, &session->translator, &error), &error);
}

bool ferry_session_open_watched(const ferry_call *call, progress *show, void *user, ferry_session *session)
{
    memset(session, 0, sizeof *session);
    session->model = ferry_open_wanted_model(call);
    if (session->model == NULL) return false;
    if (create_translator(call, show, user, session)) return true;
    ferry_session_close(session);
    return false;
}

bool ferry_session_open(const ferry_call *call, ferry_session *session)
{
    return ferry_session_open_watched(call, NULL, NULL, session);
}

void ferry_session_close(ferry_session *session)
{
    ferry_translator_destroy(session->translator);
    ferry_model_close(session->model);
    memset(session, 0, sizeof *session);
}
