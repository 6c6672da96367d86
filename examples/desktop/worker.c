#include "worker.h"

#include <ferry_documents.h>
#include <string.h>

static gboolean show_beginning(void *data) /* on the main loop */
{
    worker *w = data;
    char *beginning = g_async_queue_pop(w->beginnings);
    w->show(w->user, beginning);
    g_free(beginning);
    return G_SOURCE_REMOVE;
}

static gboolean show_part(void *data) /* on the main loop */
{
    worker *w = data;
    w->show(w->user, NULL);
    return G_SOURCE_REMOVE;
}

static gboolean end_job(void *data) /* on the main loop */
{
    worker *w = data;
    w->busy = FALSE;
    w->done(w->user);
    return G_SOURCE_REMOVE;
}

/* ---- in the thread: what Ferry calls while it translates; another answer than 0 cancels ---- */

/* A document's texts are given to the translator one by one, and translated many at a time. */
static int on_texts(void *user, size_t given, size_t texts)
{
    worker *w = user;
    w->given = (double)given;
    w->texts = (double)texts;
    return 0;
}

static int on_sentences(void *user, size_t finished, size_t sentences)
{
    worker *w = user;
    const double texts = w->finished + (w->given - w->finished) * (double)finished / (double)sentences;
    const int part = (int)(1000 * texts / w->texts);
    if (finished == sentences) w->finished = w->given;
    if (part == g_atomic_int_get(&w->part)) return 0;
    g_atomic_int_set(&w->part, part);
    if (w->job.kind == JOB_DOCUMENT) g_idle_add(show_part, w);
    return 0;
}

/* Also in threads of the translator, but one call at a time. */
static int on_partial(void *user, size_t sentence, ferry_text text)
{
    worker *w = user;
    if (sentence >= w->sentences->len) g_ptr_array_set_size(w->sentences, (int)sentence + 1);
    g_free(w->sentences->pdata[sentence]);
    w->sentences->pdata[sentence] = g_strndup(text.data, text.size);
    if (g_get_monotonic_time() - w->shown > 16000) { /* µs; a screen shows no more */
        GString *beginning = g_string_new_len(w->job.from, (gssize)strspn(w->job.from, " \t\r\n"));
        for (guint i = 0; i < w->sentences->len && w->sentences->pdata[i] != NULL; i++)
            g_string_append_printf(beginning, i > 0 ? " %s" : "%s", (char *)w->sentences->pdata[i]);
        g_async_queue_push(w->beginnings, g_string_free(beginning, FALSE));
        g_idle_add(show_beginning, w);
        w->shown = g_get_monotonic_time();
    }
    return 0;
}

/* ---- in the thread: models and languages ---- */

static gboolean has_name(const ferry_language *language, const char *code)
{
    char **names = g_strsplit(language->names, " ", -1);
    const gboolean has = strcmp(language->tag, code) == 0 || g_strv_contains((const char *const *)names, code);
    g_strfreev(names);
    return has;
}

/* The language of a role that the model's authors chose, else the one with this code, else the first; but not `other`.
 * NULL: there is none. */
static const ferry_language *choose(const ferry_model *model, int role, int chosen, const char *code,
                                    const ferry_language *other)
{
    const ferry_language *language, *found = NULL;
    for (size_t i = 0; (language = ferry_model_language(model, i)) != NULL; i++) {
        if (language->roles & chosen) return language;
        if (!(language->roles & role) || language == other) continue;
        if (found == NULL || (has_name(language, code) && !has_name(found, code))) found = language;
    }
    return found;
}

static const ferry_language *find(const ferry_model *model, const char *tag)
{
    const ferry_language *language;
    for (size_t i = 0; (language = ferry_model_language(model, i)) != NULL; i++)
        if (strcmp(language->tag, tag) == 0) break;
    return language;
}

/* Translators of `model` take the place of those that there were. If it fails, these stay. */
static ferry_status use_model(worker *w, ferry_model *model, const ferry_language *source, const ferry_language *target,
                              ferry_error *error)
{
    ferry_translator *quick = NULL, *thorough = NULL;
    ferry_options options;
    ferry_options_default(model, &options, sizeof options);
    options.from = source != NULL ? source->tag : NULL;
    options.to = target != NULL ? target->tag : NULL;
    options.threads = (int32_t)MIN(g_get_num_processors(), 4);
    options.on_loop = FERRY_ON_LOOP_RETRY;
    options.progress = on_sentences;
    options.user = w;
    ferry_status status = ferry_translator_create(model, &options, &thorough, error);
    options.beam = options.nbest = 1; /* greedy search is quick, and can tell how a translation begins */
    options.alignment = 1;
    options.partial = on_partial;
    if (status == FERRY_OK) status = ferry_translator_create(model, &options, &quick, error);
    if (status != FERRY_OK) {
        ferry_translator_destroy(thorough);
        return status;
    }
    ferry_translator_destroy(w->quick);
    ferry_translator_destroy(w->thorough);
    if (w->model != model) {
        ferry_model_close(w->model);
        w->model = model;
    }
    w->source = source;
    w->target = target;
    w->quick = quick;
    w->thorough = thorough;
    return FERRY_OK;
}

/* Of a model of many languages, from English into the user's. */
static ferry_status open_model(worker *w, ferry_error *error)
{
    ferry_model *model;
    ferry_status status = ferry_model_open(w->job.from, 0, &model, error);
    if (status != FERRY_OK) return status;
    const char *locale = g_get_language_names()[0];
    char *code = g_strndup(locale, strcspn(locale, "_.@"));
    const ferry_language *source = choose(model, FERRY_LANGUAGE_SOURCE, FERRY_LANGUAGE_DEFAULT_SOURCE, "en", NULL);
    const ferry_language *target = choose(model, FERRY_LANGUAGE_TARGET, FERRY_LANGUAGE_DEFAULT_TARGET, code, source);
    status = use_model(w, model, source, target, error);
    if (status != FERRY_OK) ferry_model_close(model);
    g_free(code);
    return status;
}

static ferry_status set_languages(worker *w, ferry_error *error)
{
    return use_model(w, w->model, find(w->model, w->job.from), find(w->model, w->job.to), error);
}

/* ---- in the thread: translating ---- */

static ferry_status translate_text(worker *w, ferry_error *error)
{
    g_clear_pointer(&w->result, ferry_result_destroy);
    return ferry_translate_text(w->quick, (ferry_text){w->job.from, strlen(w->job.from)}, &w->result, error);
}

/* Writes the translation, as a whole or not at all. Returns what became of the document. */
static char *save(const char *path, const ferry_document_result *result, GError **failure)
{
    const ferry_text text = ferry_document_result_text(result);
    const ferry_document_counts counts = ferry_document_result_counts(result);
    const ferry_document_note *left;
    if (!g_file_set_contents(path, text.data, (gssize)text.size, failure)) return NULL;
    for (size_t i = 0; (left = ferry_document_result_note(result, i)) != NULL && !left->left;) i++;
    if (left == NULL) return g_strdup_printf("%s: %zu texts translated", path, counts.translated);
    return g_strdup_printf("%s: %zu texts translated, %zu left in the source language (line %zu: %s)", path,
                           counts.translated, counts.left, left->line, left->message);
}

static ferry_status translate_document(worker *w, ferry_error *error)
{
    const char *from = w->job.from, *to = w->job.to;
    const ferry_document_options options = {.size = sizeof options,
                                            .progress = on_texts,
                                            .user = w,
                                            .from = w->source != NULL ? w->source->tag : NULL,
                                            .to = w->target != NULL ? w->target->tag : NULL};
    ferry_status status = FERRY_ERROR_IO;
    ferry_document_result *result = NULL;
    GError *failure = NULL;
    char *text = NULL;
    gsize size;
    w->given = w->finished = 0;
    if (g_file_get_contents(from, &text, &size, &failure))
        status = ferry_document_translate(w->model, w->thorough, ferry_document_format_of(from),
                                          (ferry_text){text, size}, &options, &result, error);
    if (status == FERRY_OK) w->message = save(to, result, &failure);
    if (status == FERRY_ERROR_CANCELLED)
        w->message = g_strdup_printf("Cancelled: %s was not written", to);
    else if (failure != NULL)
        w->message = g_strdup(failure->message);
    else if (status != FERRY_OK)
        w->message = g_strdup_printf("%s: %s", from, error->message);
    g_clear_error(&failure);
    ferry_document_result_destroy(result);
    g_free(text);
    return status;
}

static void run_job(void *unused, void *user)
{
    static ferry_status (*const run[])(worker *, ferry_error *) = {set_languages, open_model, translate_document,
                                                                   translate_text};
    worker *w = user;
    ferry_error error;
    (void)unused;
    ferry_status status = run[w->job.kind](w, &error);
    if (status != FERRY_OK && status != FERRY_ERROR_CANCELLED && w->message == NULL)
        w->message = g_strdup(error.message);
    g_idle_add(end_job, w);
}

/* ---- on the main loop ---- */

static void clear_job(worker *w)
{
    g_clear_pointer(&w->job.from, g_free);
    g_clear_pointer(&w->job.to, g_free);
    g_clear_pointer(&w->message, g_free);
    g_clear_pointer(&w->result, ferry_result_destroy);
}

void worker_init(worker *w, worker_show *show, worker_done *done, void *user)
{
    *w = (worker){.show = show, .done = done, .user = user};
    w->sentences = g_ptr_array_new_with_free_func(g_free);
    w->beginnings = g_async_queue_new();
    w->thread = g_thread_pool_new(run_job, w, 1, TRUE, NULL);
}

void worker_start(worker *w, worker_job job)
{
    clear_job(w);
    w->busy = TRUE;
    w->job = job;
    w->shown = 0;
    w->texts = w->given = 1; /* of a document, it is told */
    w->finished = 0;
    g_ptr_array_set_size(w->sentences, 0);
    g_atomic_int_set(&w->part, 0);
    w->translator = job.kind == JOB_TEXT ? w->quick : job.kind == JOB_DOCUMENT ? w->thorough : NULL;
    w->number = ferry_translator_job(w->translator); /* here, so that a cancel reaches a call that has not begun, too */
    g_thread_pool_push(w->thread, w, NULL);
}

void worker_cancel(worker *w)
{
    ferry_translator_cancel(w->translator, w->number);
}

double worker_part(worker *w)
{
    return g_atomic_int_get(&w->part) / 1000.0;
}

void worker_clear(worker *w)
{
    g_thread_pool_free(w->thread, FALSE, TRUE);
    g_async_queue_unref(w->beginnings);
    g_ptr_array_unref(w->sentences);
    clear_job(w);
    ferry_translator_destroy(w->quick);
    ferry_translator_destroy(w->thorough);
    ferry_model_close(w->model);
}
