/* Opens the models that the command line names. */
#ifndef FERRY_TOOLS_OPEN_MODEL_H
#define FERRY_TOOLS_OPEN_MODEL_H

#include "command.h"

/* Opens a model with the kernels that $FERRY_ISA names. Anything other than a model file is converted first
 * (conversion_cache.h). Prints a message and returns NULL on failure. */
ferry_model *ferry_open_model(const ferry_call *call, const char *path);
/* The same for the model of -m, else of $FERRY_MODEL, else the one that ships. */
ferry_model *ferry_open_wanted_model(const ferry_call *call);

#endif
