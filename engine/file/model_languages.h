/* The languages of a model file. For model_file.c alone. */
#ifndef FERRY_FILE_MODEL_LANGUAGES_H
#define FERRY_FILE_MODEL_LANGUAGES_H

#include "model_file.h"

/* Fills file->text.languages, which stays zero where the file names none; the transformer and the text's tables are
 * there. Errors: FORMAT, UNSUPPORTED (a place of tags), MEMORY. */
ferry_status ferry_model_read_languages(ferry_model_file *file, ferry_error *error);

#endif
