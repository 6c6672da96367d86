/* A model and its translator, as the command line asks for them. */
#ifndef FERRY_TOOLS_SESSION_H
#define FERRY_TOOLS_SESSION_H

#include "engine/ferry.h"
#include "command.h"

typedef struct ferry_session {
    ferry_model *model;
    ferry_options options;
    ferry_translator *translator;
} ferry_session;

/* Opens a model on the kernels that $FERRY_ISA names. What is not a model file is converted first (conversion.h).
 * Prints a message and returns NULL when that fails. */
ferry_model *ferry_open_model(const ferry_call *call, const char *path);
/* The same for the model of -m, else of $FERRY_MODEL, else the one that ships. */
ferry_model *ferry_open_wanted_model(const ferry_call *call);

/* Opens that model and makes a translator: options that are not given stay what the model's authors chose. Prints a
 * message and returns false when that fails. */
bool ferry_session_open(const ferry_call *call, ferry_session *session);
void ferry_session_close(ferry_session *session);

#endif
