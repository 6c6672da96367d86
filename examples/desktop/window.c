/* ferry-desktop [MODEL]: what is typed on the left is read in another language on the right.
 *
 * Everything here runs on the main loop. The translation grows line by line; an edit takes it back to where the text
 * has changed. Ferry counts bytes and GTK characters: numbers here are bytes. */
#include "worker.h"

#include <gtk/gtk.h>
#include <string.h>

/* A word or a sentence and its translation: bytes begin … end - 1. */
typedef struct match {
    gboolean sentence;
    gsize source_begin, source_end, target_begin, target_end;
} match;

typedef struct window {
    GtkBuilder *builder; /* has the widgets */
    GtkTextBuffer *source, *target;
    worker worker;
    char *path;                     /* the model to open, or NULL */
    char *text;                     /* the source, when it was last read */
    gsize source_done, target_done; /* so much of it is translated, to so much */
    gsize piece;                    /* so much is being translated */
    GArray *matches;                /* match: of all translated sentences; each follows its words */
    GtkTextMark *end;               /* byte target_done; what follows is left of an older translation */
    gint64 since;                   /* the last edit, in µs */
    gboolean edited, paused, closing;
} window;

static gpointer get(const window *w, const char *id) /* of window.ui */
{
    return gtk_builder_get_object(w->builder, id);
}

/* ---- text ---- */

/* Byte `byte` of a buffer that holds `text`. */
static GtkTextIter iter_at(GtkTextBuffer *buffer, const char *text, gsize byte)
{
    GtkTextIter iter;
    gtk_text_buffer_get_iter_at_offset(buffer, &iter, (int)g_utf8_strlen(text, (gssize)byte));
    return iter;
}

/* Reads the source. Sentences before the first change stay translated, but for the last of them: where it ends depends
 * on what follows. */
static void read_source(window *w)
{
    gsize same = 0;
    guint kept = 0, next = 0;
    char *source, *target;
    g_object_get(w->source, "text", &source, NULL);
    g_object_get(w->target, "text", &target, NULL);
    while (source[same] != '\0' && source[same] == w->text[same]) same++;
    for (guint i = 0; i < w->matches->len; i++) {
        const match m = g_array_index(w->matches, match, i);
        if (m.source_end >= same) break;
        if (!m.sentence) continue;
        kept = next;
        next = i + 1;
    }
    g_array_set_size(w->matches, kept);
    const match last = kept > 0 ? g_array_index(w->matches, match, kept - 1) : (match){0};
    w->source_done = last.source_end;
    w->target_done = last.target_end;
    const GtkTextIter end = iter_at(w->target, target, w->target_done);
    gtk_text_buffer_move_mark(w->target, w->end, &end);
    g_free(w->text);
    g_free(target);
    w->text = source;
    w->edited = FALSE;
}

/* What to translate next: a line, or the rest of one. NULL: everything is translated. */
static char *next_piece(window *w)
{
    GtkTextIter begin, end;
    const char *rest = w->text + w->source_done;
    const gsize space = strspn(rest, " \t\r\n");
    w->piece = space + strcspn(rest + space, "\r\n");
    if (w->piece > 0) return g_strndup(rest, w->piece);
    gtk_text_buffer_get_iter_at_mark(w->target, &begin, w->end);
    gtk_text_buffer_get_end_iter(w->target, &end);
    gtk_text_buffer_delete(w->target, &begin, &end);
    return NULL;
}

/* Puts text at the end of the translation, in place of as much that is left of an older one, so that the rest of it
 * stays where it is while its source is edited. Returns where the new text ends. */
static GtkTextIter put_text(window *w, const char *text, gsize size)
{
    GtkTextIter begin, old, start, end;
    char *valid = g_utf8_make_valid(text, (gssize)size);
    gtk_text_buffer_get_iter_at_mark(w->target, &begin, w->end);
    old = begin;
    if (gtk_text_iter_forward_chars(&old, (int)g_utf8_strlen(valid, -1))) gtk_text_iter_forward_word_end(&old);
    gtk_text_buffer_delete(w->target, &begin, &old);
    gtk_text_buffer_insert(w->target, &begin, valid, -1);
    gtk_text_buffer_get_bounds(w->target, &start, &end);
    gtk_text_buffer_remove_tag_by_name(w->target, "old", &start, &begin);
    gtk_text_buffer_apply_tag_by_name(w->target, "old", &begin, &end);
    g_free(valid);
    return begin;
}

/* The words of a sentence: each target token, and the source token that has the largest weight for it. */
static void add_words(window *w, const ferry_result *sentences, size_t index, const match *sentence)
{
    ferry_token from, to;
    size_t first, count;
    for (size_t t = 0; ferry_result_token(sentences, index, 0, t, &to, sizeof to) == FERRY_OK; t++) {
        const float *weights = ferry_result_weights(sentences, index, 0, t, &first, &count);
        match word = {.target_begin = sentence->target_begin + to.begin, .target_end = sentence->target_begin + to.end};
        float largest = 0;
        for (size_t s = 0; s < count; s++) {
            ferry_result_source_token(sentences, index, first + s, &from, sizeof from);
            if (weights[s] <= largest || from.begin == from.end) continue; /* the end of the sentence has no text */
            largest = weights[s];
            word.source_begin = sentence->source_begin + from.begin;
            word.source_end = sentence->source_begin + from.end;
        }
        if (largest > 0) g_array_append_val(w->matches, word);
    }
}

/* Takes over the translation of the piece, or the sentences that were finished before it was cancelled. */
static void add_result(window *w, const ferry_result *result)
{
    const gboolean complete = ferry_result_outcome(result, 0)->status != FERRY_ERROR_CANCELLED;
    const ferry_text text = ferry_result_text(result, 0, 0);
    gsize source = 0, target = 0;
    for (size_t i = 0; i < ferry_result_sentence_count(result); i++) {
        const ferry_sentence s = *ferry_result_sentence(result, i);
        if (ferry_result_outcome(ferry_result_sentences(result), i)->status == FERRY_ERROR_CANCELLED) break;
        const match sentence = {TRUE, w->source_done + s.source_begin, w->source_done + s.source_end,
                                w->target_done + s.target_begin, w->target_done + s.target_end};
        add_words(w, ferry_result_sentences(result), i, &sentence);
        g_array_append_val(w->matches, sentence);
        source = s.source_end;
        target = s.target_end;
    }
    if (complete) target = text.size;
    const GtkTextIter end = put_text(w, text.data, target);
    w->source_done += complete ? w->piece : source;
    w->target_done += target;
    gtk_text_buffer_move_mark(w->target, w->end, &end);
}

static void mark_words(GtkTextBuffer *buffer, GtkTextIter *begin, GtkTextIter *end)
{
    if (gtk_text_iter_inside_word(begin) && !gtk_text_iter_starts_word(begin)) gtk_text_iter_backward_word_start(begin);
    if (gtk_text_iter_inside_word(end)) gtk_text_iter_forward_word_end(end);
    gtk_text_buffer_apply_tag_by_name(buffer, "mark", begin, end);
}

static void remove_marks(window *w)
{
    GtkTextIter begin, end;
    gtk_text_buffer_get_bounds(w->source, &begin, &end);
    gtk_text_buffer_remove_tag_by_name(w->source, "mark", &begin, &end);
    gtk_text_buffer_get_bounds(w->target, &begin, &end);
    gtk_text_buffer_remove_tag_by_name(w->target, "mark", &begin, &end);
}

/* Marks the word of the translation that is pointed at, and what it came from. */
static void on_motion(window *w, double x, double y)
{
    GtkTextIter begin, end, start;
    GtkTextView *view = get(w, "target");
    int left, top;
    remove_marks(w);
    gtk_text_view_window_to_buffer_coords(view, GTK_TEXT_WINDOW_WIDGET, (int)x, (int)y, &left, &top);
    if (w->edited || !gtk_text_view_get_iter_at_location(view, &begin, left, top) || !gtk_text_iter_inside_word(&begin))
        return;
    end = begin;
    mark_words(w->target, &begin, &end);
    gtk_text_buffer_get_start_iter(w->target, &start);
    char *before = gtk_text_iter_get_slice(&start, &begin), *word = gtk_text_iter_get_slice(&begin, &end);
    const gsize from = strlen(before), to = from + strlen(word);
    for (guint i = 0; i < w->matches->len; i++) {
        const match m = g_array_index(w->matches, match, i);
        if (m.sentence || m.target_begin >= to || m.target_end <= from) continue;
        begin = iter_at(w->source, w->text, m.source_begin);
        end = iter_at(w->source, w->text, m.source_end);
        mark_words(w->source, &begin, &end);
    }
    g_free(before);
    g_free(word);
}

/* ---- jobs ---- */

static void show_progress(window *w, double part)
{
    const double done = (double)w->source_done + part * (double)w->piece, all = (double)strlen(w->text);
    const gboolean quick = g_get_monotonic_time() - w->since < 300000; /* what is ready by then shows no progress */
    gtk_widget_set_visible(get(w, "busy"), w->worker.busy && w->worker.text != NULL && !quick);
    gtk_progress_bar_set_fraction(get(w, "progress"), all > 0 ? done / all : 0);
}

/* Whatever happens is noted in `window`, and then comes here, where the next job is started; or the one in progress is
 * cancelled, and its end comes here again. */
static void go_on(window *w)
{
    if (w->worker.busy) {
        worker_cancel(&w->worker);
    } else if (w->closing) {
        gtk_window_destroy(get(w, "window"));
        return;
    } else if (w->path != NULL) {
        worker_start(&w->worker, g_steal_pointer(&w->path), NULL);
    } else if (w->worker.model != NULL) {
        if (w->edited) read_source(w);
        char *piece = w->paused ? NULL : next_piece(w);
        if (piece != NULL) worker_start(&w->worker, NULL, piece);
    }
    show_progress(w, 0);
}

static void on_show(void *user, const char *beginning, double part)
{
    window *w = user;
    put_text(w, beginning, strlen(beginning));
    show_progress(w, part);
}

static void on_done(void *user)
{
    window *w = user;
    const worker *done = &w->worker;
    const char *message = done->error.status != FERRY_OK ? done->error.message : NULL;
    if (done->result != NULL) { /* all of it, or what was finished before it was cancelled */
        add_result(w, done->result);
        message = w->paused ? "Cancelled" : message == NULL ? ferry_result_outcome(done->result, 0)->error : NULL;
    } else if (message != NULL) {
        w->paused |= done->text != NULL; /* it would fail again */
    } else {                             /* another model: all is translated again */
        gtk_window_set_title(get(w, "window"), ferry_model_info(done->model, "name"));
        w->text[0] = '\0';
        w->edited = TRUE;
        w->paused = FALSE;
    }
    gtk_label_set_text(get(w, "status"), message);
    go_on(w);
}

/* ---- what the user does ---- */

static void on_edit(window *w)
{
    w->edited = TRUE;
    w->paused = FALSE;
    w->since = g_get_monotonic_time();
    gtk_widget_set_visible(get(w, "hint"), gtk_text_buffer_get_char_count(w->source) == 0);
    remove_marks(w);
    go_on(w);
}

static void on_cancel(window *w)
{
    w->paused = TRUE;
    go_on(w);
}

static gboolean on_close(window *w)
{
    w->closing = TRUE;
    gtk_widget_set_visible(get(w, "window"), FALSE);
    go_on(w);
    return TRUE;
}

static void on_file(window *w, int response, GtkFileChooser *chooser)
{
    if (response != GTK_RESPONSE_ACCEPT) return;
    GFile *file = gtk_file_chooser_get_file(chooser);
    g_free(w->path);
    w->path = g_file_get_path(file);
    g_object_unref(file);
    go_on(w);
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
    GtkTextIter begin;
    w->builder = gtk_builder_new_from_resource("/ferry/window.ui");
    w->source = get(w, "source_buffer");
    w->target = get(w, "target_buffer");
    gtk_text_buffer_get_start_iter(w->target, &begin);
    w->end = gtk_text_buffer_create_mark(w->target, NULL, &begin, TRUE);
    g_signal_connect_swapped(w->source, "changed", G_CALLBACK(on_edit), w);
    g_signal_connect_swapped(get(w, "open"), "clicked", G_CALLBACK(gtk_native_dialog_show), get(w, "chooser"));
    g_signal_connect_swapped(get(w, "chooser"), "response", G_CALLBACK(on_file), w);
    g_signal_connect_swapped(get(w, "cancel"), "clicked", G_CALLBACK(on_cancel), w);
    g_signal_connect_swapped(get(w, "motion"), "motion", G_CALLBACK(on_motion), w);
    g_signal_connect_swapped(get(w, "motion"), "leave", G_CALLBACK(remove_marks), w);
    g_signal_connect_swapped(get(w, "window"), "close-request", G_CALLBACK(on_close), w);
    g_object_bind_property(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", get(w, "dark"), "active",
                           G_BINDING_BIDIRECTIONAL | G_BINDING_SYNC_CREATE);
    gtk_window_set_application(get(w, "window"), application);
    gtk_window_present(get(w, "window"));
    go_on(w);
}

int main(int argc, char **argv)
{
    window w = {.text = g_strdup(""), .path = argc > 1 ? g_strdup(argv[1]) : find_model()};
    w.matches = g_array_new(FALSE, FALSE, sizeof(match));
    worker_init(&w.worker, on_show, on_done, &w);
    GtkApplication *application = gtk_application_new("org.example.FerryDesktop", G_APPLICATION_NON_UNIQUE);
    g_signal_connect(application, "activate", G_CALLBACK(open_window), &w);
    const int status = g_application_run(G_APPLICATION(application), 1, argv);
    g_object_unref(application);
    g_clear_object(&w.builder);
    worker_clear(&w.worker);
    g_array_unref(w.matches);
    g_free(w.text);
    g_free(w.path);
    return status;
}
