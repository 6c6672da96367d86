/* Errors: one status code, and a message in the caller's object.
 *
 * A fallible function returns ferry_status and takes the caller's ferry_error as its last parameter (it may be NULL).
 * The message names the file, tensor or option, what was expected and what was found. */
#ifndef FERRY_BASE_STATUS_H
#define FERRY_BASE_STATUS_H

#include "engine/ferry.h" /* the one upward include: codes and ferry_error belong to the public contract */

/* Fills *error, unless `error` is NULL, and returns `code`: `return ferry_fail(error, ...);`. */
ferry_status ferry_fail(ferry_error *error, ferry_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ARGUMENT, of the function's argument or option `name`, which is static. The message is "NAME: …", or "option NAME:
 * …". (ferry_fail leaves error->argument NULL: ARGUMENT of a line is the only use of it with this status.) */
ferry_status ferry_fail_argument(ferry_error *error, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
ferry_status ferry_fail_option(ferry_error *error, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* MEMORY for a failed request of `count` × `size` bytes, as of calloc. */
ferry_status ferry_fail_memory(ferry_error *error, const char *purpose, size_t count, size_t size);

/* Returns the status of `call` from the calling function if it failed. For functions that hold nothing to release. */
#define FERRY_TRY(call)                                                                                                \
    do {                                                                                                               \
        ferry_status try_status_ = (call);                                                                             \
        if (try_status_ != FERRY_OK) return try_status_;                                                               \
    } while (0)

enum { FERRY_MAX_STRUCT = 4096 }; /* bytes of a public struct of any version; more: its size was not set */
/* Checks `size`, argument `name`: of the structs of an array, of any version. `first_size`: of the first version.
 * Errors: ARGUMENT. */
ferry_status ferry_check_stride(const char *name, const char *type, size_t size, size_t first_size, size_t alignment,
                                ferry_error *error);

/* For public functions: ARGUMENT, with the argument's name, if it is NULL. */
#define FERRY_NEEDS(argument)                                                                                          \
    do {                                                                                                               \
        if ((argument) == NULL) return ferry_fail_argument(error, #argument, "expected a pointer, found NULL");        \
    } while (0)

#endif
