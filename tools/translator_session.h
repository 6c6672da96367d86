/* The models that the command line names, and translators with its options. */
#ifndef FERRY_TOOLS_TRANSLATOR_SESSION_H
#define FERRY_TOOLS_TRANSLATOR_SESSION_H

#include "command.h"

/* Opens a model with the kernels that $FERRY_ISA names. Anything other than a model file is converted first
 * (conversion_cache.h). Prints a message and returns NULL on failure. */
ferry_model *ferry_open_model(const ferry_call *call, const char *path);
/* The same for the model of -m, else of $FERRY_MODEL, else the one that ships. */
ferry_model *ferry_open_wanted_model(const ferry_call *call);

typedef struct ferry_session {
    ferry_model *model, *second; /* NULL: there is one */
    ferry_options options;
    ferry_search_options search; /* options.search */
    ferry_glossary *glossary;    /* of --glossary, for the first model; NULL: none */
    ferry_translator *translator;
} ferry_session;

/* Which scores a command needs, unless options say more. */
typedef enum ferry_session_scores {
    FERRY_SCORES_NONE, /* greedy search is faster without */
    FERRY_SCORES_MODEL,
    FERRY_SCORES_SUM /* without the model's penalties: sums of log-probabilities */
} ferry_session_scores;

/* What a command needs; zeroed: the least. */
typedef struct ferry_session_needs {
    const char *path; /* of the model; NULL: the wanted one (ferry_open_wanted_model) */
    ferry_session_scores scores;
    ferry_on_loop on_loop;                                  /* unless the option says another */
    int (*progress)(void *user, size_t done, size_t total); /* as in ferry_options */
    void *user;
} ferry_session_needs;

/* Opens the model, or two of them, and creates a translator; other options that are not given keep the model's
 * defaults. Prints a message and returns false on failure. */
bool ferry_session_open(const ferry_call *call, const ferry_session_needs *needs, ferry_session *session);
/* The model that writes. */
const ferry_model *ferry_session_writer(const ferry_session *session);
/* Whether the model's file differs from its content hash; prints that translations cannot be trusted. */
bool ferry_session_is_damaged(const ferry_session *session);
void ferry_session_close(ferry_session *session);

/* Prints a message and returns false where an option has no meaning with two models. */
bool ferry_second_model_check(const ferry_call *call);

#endif
