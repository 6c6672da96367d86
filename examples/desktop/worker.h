/* A thread that opens models and translates, one job at a time, so that the window never waits. */
#ifndef WORKER_H
#define WORKER_H

#include <ferry.h>
#include <glib.h>

typedef void worker_show(void *user, const char *beginning, double part), worker_done(void *user);

typedef struct worker {
    gboolean busy;        /* a job is in progress: all that follows is the thread's, and for others read-only */
    char *path, *text;    /* the model to open, or the text to translate; the other is NULL */
    ferry_result *result; /* the translation, or what was finished of it when it was cancelled; else NULL */
    ferry_error error;    /* FERRY_OK, or what went wrong */
    ferry_model *model;   /* the last one that could be opened, or NULL */
    ferry_translator *translator;
    GPtrArray *sentences;    /* char *: their translations so far */
    GAsyncQueue *beginnings; /* char *: of the text's translation, to be shown */
    gint64 shown;            /* when the last one was sent, in µs */
    int percent, cancelled;  /* atomic */
    GThreadPool *thread;
    worker_show *show;
    worker_done *done;
    void *user;
} worker;

/* On the main loop, `show` is called with the beginning of a translation and the part of it, 0 … 1, that is finished;
 * `done` at the end of each job, when all fields may be read. */
void worker_init(worker *worker, worker_show *show, worker_done *done, void *user);
/* Starts a job; none may be in progress. The strings belong to the worker. */
void worker_start(worker *worker, char *path, char *text);
/* Ends a translation within milliseconds. */
void worker_cancel(worker *worker);
void worker_clear(worker *worker);

#endif
