/* A model and its translator, with the options of the command line. */
#ifndef FERRY_TOOLS_TRANSLATOR_SESSION_H
#define FERRY_TOOLS_TRANSLATOR_SESSION_H

#include "command.h"

typedef struct ferry_session {
    ferry_model *model;
    ferry_options options;
    ferry_translator *translator;
} ferry_session;

/* Opens the model `path`, or if it is NULL the wanted one (open_model.h), and creates a translator; options that are
 * not given keep the model's defaults, but scores are computed only if `scores` says so or an option. Prints a message
 * and returns false on failure. */
bool ferry_session_open(const ferry_call *call, const char *path, bool scores, ferry_session *session);
void ferry_session_close(ferry_session *session);

#endif
