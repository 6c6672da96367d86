/* What the window shows. Everything here runs on the main loop. */
#ifndef WINDOW_H
#define WINDOW_H

#include "worker.h"

#include <gtk/gtk.h>

typedef struct window {
    GtkBuilder *builder; /* has the widgets */
    GtkTextBuffer *source, *target;
    worker worker;
    worker_job
        wanted[JOB_TEXT]; /* of each kind: a job to begin when the one in progress has ended; `from` NULL: none */
    char *text;           /* the source, when it was last read */
    gsize source_done, target_done; /* so much of it is translated, to so much */
    gsize piece;                    /* so much is being translated */
    GArray *matches;                /* of all translated sentences and words (window_text.c) */
    GtkTextMark *end;               /* byte target_done; what follows is left of an older translation */
    gint64 since;                   /* the last edit, in µs */
    gboolean edited, paused, closing;
} window;

/* ---- window.c ---- */

gpointer window_get(const window *w, const char *id); /* of window.ui */
void window_tell(window *w, const char *message);
/* Begins a job, when it can be. The strings belong to the window. */
void window_want(window *w, job_kind kind, char *from, char *to);
/* What was chosen, to be freed. */
char *window_chosen(GtkFileChooser *chooser);

/* ---- window_text.c ---- */

void text_connect(window *w);
void text_clear(window *w); /* when the window is gone */
/* Reads the source, of which the beginning that has not changed stays translated. */
void text_read(window *w);
/* Everything is to be translated again. */
void text_forget(window *w);
/* What to translate next: a line, or the rest of one. NULL: everything is translated. */
char *text_next(window *w);
/* Shows the beginning of a translation of what text_next returned. */
void text_show(window *w, const char *beginning);
/* Takes over its translation, or the sentences that were finished before it was cancelled. */
void text_add(window *w, const ferry_result *result);
void text_remove_marks(window *w);
/* Text and translation change places. */
void text_exchange(window *w);

/* ---- window_languages.c ---- */

void languages_connect(window *w);
/* Those of the worker's model. */
void languages_show(window *w);

/* ---- window_documents.c ---- */

void documents_connect(window *w);

#endif
