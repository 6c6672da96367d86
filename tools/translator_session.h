/* A model and its translator, with the options of the command line. */
#ifndef FERRY_TOOLS_TRANSLATOR_SESSION_H
#define FERRY_TOOLS_TRANSLATOR_SESSION_H

#include "command.h"

typedef struct ferry_session {
    ferry_model *model;
    ferry_options options;
    ferry_translator *translator;
} ferry_session;

/* Opens the wanted model (open_model.h) and creates a translator; options that are not given keep the model's defaults.
 * Prints a message and returns false on failure. */
bool ferry_session_open(const ferry_call *call, ferry_session *session);
/* The same, with these fields of the options. */
bool ferry_session_open_watched(const ferry_call *call, int (*progress)(void *user, size_t done, size_t total),
                                void *user, ferry_session *session);
void ferry_session_close(ferry_session *session);

#endif
