/* A thread that opens models and translates, one job at a time, so that the window never waits. */
#ifndef WORKER_H
#define WORKER_H

#include <ferry.h>
#include <glib.h>

typedef enum job_kind {
    JOB_LANGUAGES, /* from now on, `from` is translated into `to`: tags of the model's languages; "": not known */
    JOB_MODEL,     /* opens model file `from` */
    JOB_DOCUMENT,  /* translates file `from` into file `to` */
    JOB_TEXT       /* translates `from` */
} job_kind;

typedef struct worker_job {
    job_kind kind;
    char *from, *to;
} worker_job;

typedef void worker_show(void *user, const char *beginning), worker_done(void *user);

typedef struct worker {
    gboolean busy; /* a job is in progress: all that follows is the thread's, and for others read-only */
    worker_job job;
    ferry_result *result; /* of a text: its translation, or what was finished of it when it was cancelled; else NULL */
    char *message;        /* what there is to say about the job: why it failed, what became of a document; or NULL */
    ferry_model *model;   /* the last one that could be opened, or NULL, as all of the next four */
    const ferry_language *source, *target; /* NULL: the model does not say */
    ferry_translator *quick, *thorough;    /* for texts, while one types, and for documents */
    GPtrArray *sentences;                  /* char *: their translations so far */
    GAsyncQueue *beginnings;               /* char *: of the text's translation, to be shown */
    gint64 shown;                          /* when the last one was sent, in µs */
    double texts, given, finished;         /* of a document: all, those that the translator has got, and has finished */
    int part;                              /* atomic; in thousandths */
    ferry_translator *translator;          /* of the job: `quick`, `thorough`, or NULL, which no cancel reaches */
    uint32_t number;                       /* what the translator calls the job */
    GThreadPool *thread;
    worker_show *show;
    worker_done *done;
    void *user;
} worker;

/* On the main loop, `show` is called with the beginning of a text's translation, or with NULL, when more of a document
 * is finished; `done` at the end of each job, when all fields may be read. */
void worker_init(worker *worker, worker_show *show, worker_done *done, void *user);
/* Starts a job, whose strings belong to the worker; none may be in progress. */
void worker_start(worker *worker, worker_job job);
/* How much of the translation in progress is finished, 0 … 1. */
double worker_part(worker *worker);
/* Ends the translation in progress within milliseconds, also one that the thread has not begun yet. */
void worker_cancel(worker *worker);
void worker_clear(worker *worker);

#endif
