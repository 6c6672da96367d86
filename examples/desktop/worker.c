#include "worker.h"

#include <string.h>

static gboolean show_beginning(void *data) /* on the main loop */
{
    worker *w = data;
    char *beginning = g_async_queue_pop(w->beginnings);
    w->show(w->user, beginning, g_atomic_int_get(&w->percent) / 100.0);
    g_free(beginning);
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

static int on_progress(void *user, size_t finished, size_t sentences)
{
    worker *w = user;
    g_atomic_int_set(&w->percent, (int)(100 * finished / sentences));
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
        GString *beginning = g_string_new_len(w->text, (gssize)strspn(w->text, " \t\r\n"));
        for (guint i = 0; i < w->sentences->len && w->sentences->pdata[i] != NULL; i++)
            g_string_append_printf(beginning, i > 0 ? " %s" : "%s", (char *)w->sentences->pdata[i]);
        g_async_queue_push(w->beginnings, g_string_free(beginning, FALSE));
        g_idle_add(show_beginning, w);
        w->shown = g_get_monotonic_time();
    }
    return 0;
}

/* ---- in the thread: jobs ---- */

/* If this fails, the model that was open before stays. */
static void open_model(worker *w)
{
    ferry_model *model;
    ferry_translator *translator;
    ferry_options options;
    if (ferry_model_open(w->path, 0, &model, &w->error) != FERRY_OK) return;
    ferry_options_default(model, &options, sizeof options);
    options.beam = options.nbest = 1; /* greedy search is quick, and can tell how a translation begins */
    options.alignment = 1;
    options.threads = (int32_t)MIN(g_get_num_processors(), 4);
    options.progress = on_progress;
    options.partial = on_partial;
    options.user = w;
    if (ferry_translator_create(model, &options, &translator, &w->error) != FERRY_OK) {
        ferry_model_close(model);
        return;
    }
    ferry_translator_destroy(w->translator);
    ferry_model_close(w->model);
    w->translator = translator;
    w->model = model;
}

static void run_job(void *unused, void *user)
{
    worker *w = user;
    (void)unused;
    if (w->path != NULL)
        open_model(w);
    else
        do /* again where a cancel came too late for the job before */
            g_clear_pointer(&w->result, ferry_result_destroy);
        while (ferry_translate_text(w->translator, (ferry_text){w->text, strlen(w->text)}, &w->result, &w->error) ==
                   FERRY_ERROR_CANCELLED &&
               !g_atomic_int_get(&w->cancelled));
    g_idle_add(end_job, w);
}

/* ---- on the main loop ---- */

static void clear_job(worker *w)
{
    g_clear_pointer(&w->path, g_free);
    g_clear_pointer(&w->text, g_free);
    g_clear_pointer(&w->result, ferry_result_destroy);
    w->error.status = FERRY_OK;
}

void worker_init(worker *w, worker_show *show, worker_done *done, void *user)
{
    *w = (worker){.show = show, .done = done, .user = user};
    w->sentences = g_ptr_array_new_with_free_func(g_free);
    w->beginnings = g_async_queue_new();
    w->thread = g_thread_pool_new(run_job, w, 1, TRUE, NULL);
}

void worker_start(worker *w, char *path, char *text)
{
    clear_job(w);
    w->busy = TRUE;
    w->path = path;
    w->text = text;
    w->shown = 0;
    g_ptr_array_set_size(w->sentences, 0);
    g_atomic_int_set(&w->percent, 0);
    g_atomic_int_set(&w->cancelled, 0);
    g_thread_pool_push(w->thread, w, NULL);
}

void worker_cancel(worker *w)
{
    if (!w->busy || w->text == NULL) return;
    g_atomic_int_set(&w->cancelled, 1);
    ferry_translator_cancel(w->translator); /* this call, also if it has not begun yet */
}

void worker_clear(worker *w)
{
    g_thread_pool_free(w->thread, FALSE, TRUE);
    g_async_queue_unref(w->beginnings);
    g_ptr_array_unref(w->sentences);
    clear_job(w);
    ferry_translator_destroy(w->translator);
    ferry_model_close(w->model);
}
