/* Texts that a test submits to a service. What their callbacks get is kept, and what holds for every text is checked.
 * A service can be held in a callback, so that a test can submit texts before any of them is begun. */
#ifndef FERRY_SUPPORT_SERVICE_SUPPORT_H
#define FERRY_SUPPORT_SERVICE_SUPPORT_H

#include <stdatomic.h>

#include "shipped_model.h"

/* ---- expectations of callbacks: cmocka's assertions are for the thread of the test ---- */

#define EXPECT(holds) expect(holds, #holds, __FILE__, __LINE__)
void expect(bool holds, const char *what, const char *file, int line);
/* Fails if an expectation did not hold since the last call. */
void check_expectations(void);

/* ---- numbers that threads wait for ---- */

typedef atomic_int counter;

/* Returns the new value. */
int count_up(counter *c);
/* Whether it reaches `value` within this time. */
bool count_reaches(counter *c, int value, double seconds);
/* The same within PATIENCE, which is more than any correct service needs. */
bool count_waits(counter *c, int value);

/* ---- texts ---- */

enum { SENT_LINES = 8, SENT_BYTES = 128 }; /* what is kept of partial translations */

typedef enum sent_callback { ON_PROGRESS, ON_PARTIAL, ON_DONE } sent_callback;

/* The test fills in the first part. */
typedef struct sent sent;
struct sent {
    ferry_submission given;                   /* without size, callbacks and user */
    bool watched;                             /* progress and partial are given, too */
    int (*act)(sent *s, sent_callback which); /* NULL, or called by each callback. Its answer is that of the callback */
    void *user;

    ferry_ticket ticket;
    int place; /* among all texts that were reported, from 1; 0: not reported */
    ferry_status status;
    ferry_error error;
    ferry_result *result;
    size_t progress_calls, partial_calls, lines_done, lines_total;
    ferry_text last[SENT_LINES]; /* the last partial translation of each line */
    char bytes[SENT_LINES][SENT_BYTES];
    atomic_int inside; /* number of its callbacks that are running */
};

/* Whether this callback, which runs, is the first one of its kind. */
bool is_first(const sent *s, sent_callback which);
/* Zeroed, kept. */
sent *new_texts(size_t count);
ferry_status submit(ferry_service *service, sent *s, ferry_error *error);
/* Submits a text of this priority, which must be accepted. */
void submit_text(ferry_service *service, sent *s, const char *text, int32_t priority);
void free_results(const sent *texts, size_t count);
/* Number of texts that were reported, since the last service was made. */
extern counter reported;

/* ---- services ---- */

/* Small and quick: one thread, sentences one by one, each of `steps` tokens. */
ferry_options stepped_options(int32_t steps);
ferry_service *new_service(ferry_translator *translator, const ferry_service_options *room);
/* A thread of the service (in a row: of the last model) is in the last callback of a text, which has left its place,
 * from hold_service to release_service. These two alternate. */
void hold_service(ferry_service *service);
void release_service(void);
/* new_service, hold_service */
ferry_service *held_service(ferry_translator *translator, const ferry_service_options *room);
/* Waits until `count` texts are reported, each once, destroys the service, and checks the expectations. */
void end_service(ferry_service *service, int count);

/* ---- results ---- */

bool is_same_result(const ferry_result *a, const ferry_result *b);
/* The result of a submission that was not cancelled is what a call of the translator returns. */
void check_result(const sent *s, ferry_translator *translator);
/* Checks the places of texts, for example {3, 1, 2}: the second one was reported first. */
void check_places(const sent *texts, const int *places, size_t count);
#define CHECK_PLACES(texts, ...)                                                                                       \
    check_places(texts, (const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

#endif
