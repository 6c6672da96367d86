/* The text, its translation, and which words came from which. Ferry counts bytes and GTK characters: numbers here are
 * bytes. */
#include "window.h"

#include <string.h>

/* A word or a sentence and its translation: bytes begin … end - 1. Each sentence follows its words. */
typedef struct match {
    gboolean sentence;
    gsize source_begin, source_end, target_begin, target_end;
} match;

/* Byte `byte` of a buffer that holds `text`. */
static GtkTextIter iter_at(GtkTextBuffer *buffer, const char *text, gsize byte)
{
    GtkTextIter iter;
    gtk_text_buffer_get_iter_at_offset(buffer, &iter, (int)g_utf8_strlen(text, (gssize)byte));
    return iter;
}

/* Sentences before the first change stay translated, but for the last of them: where it ends depends on what follows.
 */
void text_read(window *w)
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

void text_forget(window *w)
{
    w->text[0] = '\0';
    w->edited = TRUE;
}

char *text_next(window *w)
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

void text_show(window *w, const char *beginning)
{
    put_text(w, beginning, strlen(beginning));
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

void text_add(window *w, const ferry_result *result)
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

void text_remove_marks(window *w)
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
    GtkTextView *view = window_get(w, "target");
    int left, top;
    text_remove_marks(w);
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

/* As a user would: it can be undone. */
static void replace(GtkTextBuffer *buffer, const char *text)
{
    GtkTextIter begin, end;
    gtk_text_buffer_get_bounds(buffer, &begin, &end);
    gtk_text_buffer_begin_user_action(buffer);
    gtk_text_buffer_delete(buffer, &begin, &end);
    gtk_text_buffer_insert(buffer, &begin, text, -1);
    gtk_text_buffer_end_user_action(buffer);
}

void text_exchange(window *w)
{
    char *source, *target;
    g_object_get(w->source, "text", &source, NULL);
    g_object_get(w->target, "text", &target, NULL);
    replace(w->target, source);
    replace(w->source, target);
    text_forget(w);
    g_free(source);
    g_free(target);
}

static void on_copy(window *w)
{
    char *target;
    g_object_get(w->target, "text", &target, NULL);
    gdk_clipboard_set_text(gtk_widget_get_clipboard(window_get(w, "copy")), target);
    window_tell(w, "Copied");
    g_free(target);
}

void text_connect(window *w)
{
    GtkTextIter begin;
    w->source = window_get(w, "source_buffer");
    w->target = window_get(w, "target_buffer");
    w->text = g_strdup("");
    w->matches = g_array_new(FALSE, FALSE, sizeof(match));
    gtk_text_buffer_get_start_iter(w->target, &begin);
    w->end = gtk_text_buffer_create_mark(w->target, NULL, &begin, TRUE);
    g_signal_connect_swapped(window_get(w, "motion"), "motion", G_CALLBACK(on_motion), w);
    g_signal_connect_swapped(window_get(w, "motion"), "leave", G_CALLBACK(text_remove_marks), w);
    g_signal_connect_swapped(window_get(w, "copy"), "clicked", G_CALLBACK(on_copy), w);
}

void text_clear(window *w)
{
    g_array_unref(w->matches);
    g_free(w->text);
}
