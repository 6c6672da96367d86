/* ferry-desktop [MODEL]: what is typed on the left is read in another language on the right. */
#include "window.h"

#include <string.h>

gpointer window_get(const window *w, const char *id)
{
    return gtk_builder_get_object(w->builder, id);
}

void window_tell(window *w, const char *message)
{
    char *valid = g_utf8_make_valid(message, -1); /* names of files may be anything */
    gtk_label_set_text(window_get(w, "status"), valid);
    g_free(valid);
}

/* ---- jobs ---- */

static gboolean is_busy(const window *w, job_kind kind)
{
    return w->worker.busy && w->worker.job.kind == kind;
}

static void show_progress(window *w)
{
    const gboolean document = is_busy(w, JOB_DOCUMENT), text = is_busy(w, JOB_TEXT), opening = is_busy(w, JOB_MODEL);
    const gboolean quick = g_get_monotonic_time() - w->since < 300000; /* what is ready by then shows no progress */
    double part = worker_part(&w->worker);
    if (text) part = ((double)w->source_done + part * (double)w->piece) / (double)strlen(w->text);
    gtk_widget_set_visible(window_get(w, "busy"), document || (text && !quick));
    gtk_progress_bar_set_fraction(window_get(w, "progress"), part);
    gtk_widget_set_sensitive(window_get(w, "open"), !document);
    gtk_widget_set_sensitive(window_get(w, "languages"), !document && !opening);
    gtk_widget_set_sensitive(window_get(w, "document"), !document && !opening && w->worker.model != NULL);
}

/* The next job, in the order of their kinds; FALSE: there is none. */
static gboolean take_job(window *w, worker_job *next)
{
    for (*next = (worker_job){0}; next->kind < JOB_TEXT; next->kind++) {
        if (w->wanted[next->kind].from == NULL) continue;
        *next = w->wanted[next->kind];
        w->wanted[next->kind] = (worker_job){.from = NULL};
        return TRUE;
    }
    if (w->worker.model == NULL) return FALSE;
    if (w->edited) text_read(w);
    if (!w->paused) next->from = text_next(w);
    return next->from != NULL;
}

/* Whatever happens is noted in `window`, and then comes here, where the next job is started; or the one in progress is
 * cancelled, and its end comes here again. But a document is waited for. */
static void go_on(window *w)
{
    worker_job next;
    if (w->worker.busy) {
        if (w->closing || !is_busy(w, JOB_DOCUMENT)) worker_cancel(&w->worker);
    } else if (w->closing) {
        gtk_window_destroy(window_get(w, "window"));
        return;
    } else if (take_job(w, &next)) {
        worker_start(&w->worker, next);
    }
    show_progress(w);
}

void window_want(window *w, job_kind kind, char *from, char *to)
{
    g_free(w->wanted[kind].from);
    g_free(w->wanted[kind].to);
    w->wanted[kind] = (worker_job){kind, from, to};
    go_on(w);
}

static void on_show(void *user, const char *beginning)
{
    window *w = user;
    if (beginning != NULL) text_show(w, beginning);
    show_progress(w);
}

static void on_done(void *user)
{
    window *w = user;
    const worker *done = &w->worker;
    const char *message = done->message;
    if (done->job.kind == JOB_TEXT && done->result != NULL) {
        const ferry_outcome *outcome = ferry_result_outcome(done->result, 0);
        text_add(w, done->result);
        message = w->paused ? "Cancelled" : outcome->status != FERRY_ERROR_CANCELLED ? outcome->error : NULL;
    } else if (done->job.kind == JOB_TEXT) {
        w->paused = TRUE; /* it would fail again */
    } else if (done->job.kind != JOB_DOCUMENT) {
        if (message == NULL) text_forget(w);
        w->paused = FALSE;
        languages_show(w);
    }
    if (message != NULL || done->job.kind != JOB_TEXT) window_tell(w, message != NULL ? message : "");
    go_on(w);
}

/* ---- what the user does ---- */

static void on_edit(window *w)
{
    w->edited = TRUE;
    w->paused = FALSE;
    w->since = g_get_monotonic_time();
    gtk_widget_set_visible(window_get(w, "hint"), gtk_text_buffer_get_char_count(w->source) == 0);
    if (!is_busy(w, JOB_DOCUMENT)) window_tell(w, "");
    text_remove_marks(w);
    go_on(w);
}

static void on_cancel(window *w)
{
    if (!is_busy(w, JOB_DOCUMENT)) w->paused = TRUE;
    worker_cancel(&w->worker);
}

static gboolean on_close(window *w)
{
    w->closing = TRUE;
    gtk_widget_set_visible(window_get(w, "window"), FALSE);
    go_on(w);
    return TRUE;
}

char *window_chosen(GtkFileChooser *chooser)
{
    GFile *file = gtk_file_chooser_get_file(chooser);
    char *path = g_file_get_path(file);
    if (path == NULL) path = g_file_get_uri(file); /* on another machine: opening it tells so */
    g_object_unref(file);
    return path;
}

static void on_model(window *w, int response, GtkFileChooser *chooser)
{
    if (response == GTK_RESPONSE_ACCEPT) window_want(w, JOB_MODEL, window_chosen(chooser), NULL);
}

/* The model that comes with the program: where such files are installed, else where CMake found it. */
static char *find_model(void)
{
    for (const char *const *directory = g_get_system_data_dirs(); *directory != NULL; directory++) {
        char *path = g_build_filename(*directory, "ferry", "tatoeba-en-de.gguf", NULL);
        if (g_file_test(path, G_FILE_TEST_EXISTS)) return path;
        g_free(path);
    }
    return g_strdup(MODEL);
}

static void open_window(GtkApplication *application, window *w)
{
    w->builder = gtk_builder_new_from_resource("/ferry/window.ui");
    text_connect(w);
    languages_connect(w);
    documents_connect(w);
    g_signal_connect_swapped(w->source, "changed", G_CALLBACK(on_edit), w);
    g_signal_connect_swapped(window_get(w, "open"), "clicked", G_CALLBACK(gtk_native_dialog_show),
                             window_get(w, "chooser"));
    g_signal_connect_swapped(window_get(w, "chooser"), "response", G_CALLBACK(on_model), w);
    g_signal_connect_swapped(window_get(w, "cancel"), "clicked", G_CALLBACK(on_cancel), w);
    g_signal_connect_swapped(window_get(w, "window"), "close-request", G_CALLBACK(on_close), w);
    g_object_bind_property(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", window_get(w, "dark"),
                           "active", G_BINDING_BIDIRECTIONAL | G_BINDING_SYNC_CREATE);
    gtk_window_set_application(window_get(w, "window"), application);
    gtk_window_present(window_get(w, "window"));
    go_on(w);
}

int main(int argc, char **argv)
{
    window w = {.wanted[JOB_MODEL] = {JOB_MODEL, argc > 1 ? g_strdup(argv[1]) : find_model(), NULL}};
    worker_init(&w.worker, on_show, on_done, &w);
    /* Also the names of the program's icon and of its .desktop file, by which a desktop knows its windows. */
    GtkApplication *application = gtk_application_new("org.example.FerryDesktop", G_APPLICATION_NON_UNIQUE);
    g_signal_connect(application, "activate", G_CALLBACK(open_window), &w);
    const int status = g_application_run(G_APPLICATION(application), 1, argv);
    g_object_unref(application);
    worker_clear(&w.worker);
    if (w.builder != NULL) text_clear(&w);
    g_clear_object(&w.builder);
    for (job_kind kind = 0; kind < JOB_TEXT; kind++) {
        g_free(w.wanted[kind].from);
        g_free(w.wanted[kind].to);
    }
    return status;
}
