/* Writing a plan as a model file. */
#ifndef FERRY_PLAN_WRITE_H
#define FERRY_PLAN_WRITE_H

#include "base/status.h"
#include "base/tensor.h"

struct ferry_import_plan;

typedef struct ferry_import_options {
    /* Of the matrices in the model file: FERRY_F32, FERRY_F16 or FERRY_I8 (row by row; a source's own integers stay as
     * they are). */
    ferry_type type;
    /* With FERRY_I8: matrices of layers get four bits and a step for every 32 inputs, if 32 divides their inputs. */
    bool four_bits;
    /* With FERRY_F32: int8 matrices of the source, and f16 ones of a model file, become float32, too; otherwise they
     * stay as they are. */
    bool widen;
    const char *name; /* general.name; NULL: the name of the source */
    const char *pair; /* "en-de": the model's languages, or the defaults among them; NULL: as the source says, else as
                       * its name says (opus-mt-en-de) */
    struct ferry_new_file *file; /* NULL, or the open file `output`, which the caller finishes and closes */
    uint64_t budget;             /* bytes that the source may take; 0: the default (models/containers/reader.h) */
    /* NULL, or called before the file is created, with 0 bytes done, and then as bytes are written; a result other than
     * 0 cancels (FERRY_ERROR_CANCELLED). */
    int (*progress)(void *user, uint64_t bytes_done, uint64_t bytes_total);
    /* NULL, or called for each quantized matrix, with its largest weight and the root mean square of weights and of
     * errors. */
    void (*quantized)(void *user, const char *tensor, double largest, double rms, double rms_error);
    /* NULL, or called when the file is complete, with the bytes of the files that were read. */
    void (*complete)(void *user, uint64_t bytes_read);
    /* NULL, or called with a note: only a name says which languages the model translates, or two files hardly belong
     * together. Names of files and languages are unescaped in the message. */
    void (*noted)(void *user, const char *message);
    void *user;
} ferry_import_options;

/* A file named `output` is replaced once the new one is complete (base/files/new_file.h). Errors: IO, UNSUPPORTED,
 * FORMAT, MEMORY (or the account refused), CANCELLED. */
ferry_status ferry_import_write(const struct ferry_import_plan *plan, const char *output,
                                const ferry_import_options *options, ferry_error *error);

#endif
