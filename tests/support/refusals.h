/* Inputs that must be refused, as rows of tables: what is given, the status, and the whole message. All rows of a table
 * are tried, and those that differ are printed. Of a message that begins with "…" the rest is a part. Failures are
 * cmocka's.
 *
 *     static ferry_status read_settings(ferry_view input, ferry_error *error); // as the file "in", freed if accepted
 *
 *     const refused rows[] = {
 *         MALFORMED(text_view("a: 1\na: 3\n"), "line 2: 'a' occurs twice"),
 *         MALFORMED(BYTES("a: 1\0"), "line 1: a text with a NUL byte"),
 *         UNSUPPORTED(edited(&sound, 15, 0x80), "version 128 is not supported"),
 *         {longer(&sound, 1), FERRY_ERROR_LIMIT, "in: too long"},
 *     };
 *     check_refused(read_settings, rows, COUNT(rows));
 *
 * Importers read directories, which differ in one file from a sound one:
 *
 *     static const refused_edit rows[] = {
 *         {"config.json", "\"d_model\": 64", "\"d_model\": 0", FERRY_ERROR_FORMAT,
 *          "SOURCE/config.json: 'd_model': expected 1 to 1048576, found 0"},
 *         {"model.safetensors", NULL, NULL, FERRY_ERROR_UNSUPPORTED, "SOURCE: expected model.safetensors, …"},
 *     };
 *     check_refused_edits(data_file("models/huggingface-m2m"), rows, COUNT(rows));
 */
#ifndef FERRY_SUPPORT_REFUSALS_H
#define FERRY_SUPPORT_REFUSALS_H

#include "import_support.h"

#define BYTES(literal) ((ferry_view){literal, sizeof(literal) - 1})

typedef struct refused {
    ferry_view input; /* the reader gets a copy in memory of exactly its size */
    ferry_status status;
    const char *message;
} refused;

/* The usual rows: the message begins with the file's name. */
#define MALFORMED(input, message)                                                                                      \
    {                                                                                                                  \
        input, FERRY_ERROR_FORMAT, "in: " message                                                                      \
    }
#define UNSUPPORTED(input, message)                                                                                    \
    {                                                                                                                  \
        input, FERRY_ERROR_UNSUPPORTED, "in: " message                                                                 \
    }

typedef ferry_status tried_reader(ferry_view input, ferry_error *error);

void check_refused(tried_reader *read, const refused *rows, size_t count);
/* By a reader of weights, as the file "in"; nothing may be left of them. */
void check_refused_weights(ferry_weights_reader *read, const refused *rows, size_t count);
/* Of a sound file that is cut off: every size from `first` on, each with this status and some message about "in". */
void check_refused_cuts(tried_reader *read, const made_file *sound, size_t first, ferry_status status);
void check_refused_weights_cuts(ferry_weights_reader *read, const made_file *sound, size_t first, ferry_status status);

/* ---- sound files ---- */

/* The tensors of a file of weights, which lie in it (as stored members of archives do) and are no copies, by name, with
 * "; " between them: "a f32 [2, 1] 1 -2; b i8 [3] / 127 1 2 3". Numbers stand row by row, after a multiplier if there
 * is one; of types but f32 they are the bytes, as one number. Types that are not read: "c unsupported [3] 3 bytes". */
void check_weights(ferry_weights_reader *read, ferry_view bytes, const char *expected);

/* ---- a sound file, edited ---- */

ferry_view edited(const made_file *sound, size_t at, unsigned char byte);
/* With zeros after its end. */
ferry_view longer(const made_file *sound, size_t bytes);

/* ---- importers ---- */

/* In a copy of a source, `from` in `file` becomes `to` (as in `edit`): refused with this message, in which SOURCE
 * stands for the path of the copy. No file is left. */
typedef struct refused_edit {
    const char *file, *from, *to;
    ferry_status status;
    const char *message;
} refused_edit;

void check_refused_edits(const char *source, const refused_edit *rows, size_t count);
/* The same of a source as it is. */
void check_refused_source(const char *source, const ferry_import_options *options, ferry_status status,
                          const char *message);

#endif
