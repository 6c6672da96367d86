/* What texts claim about positional encodings, and whether the comparison speaks for it.
 *
 * A claim is divided into cases: a model, or two models compared in one bucket and metric. Each case speaks for it,
 * against it, or is open, because an interval or p permits both. One rule makes the verdict of all claims. */
#ifndef FERRY_LAB_REPORT_CLAIMS_H
#define FERRY_LAB_REPORT_CLAIMS_H

#include <stdio.h>

#include "report_facts.h"

typedef struct ferry_votes {
    int32_t yes, no, open;
} ferry_votes;

typedef enum ferry_verdict {
    FERRY_VERDICT_FOR,          /* at least three quarters of the cases */
    FERRY_VERDICT_AGAINST,      /* at least three quarters of the cases */
    FERRY_VERDICT_OPEN,         /* more than half are open */
    FERRY_VERDICT_MIXED,        /* otherwise */
    FERRY_VERDICT_NOT_MEASURED, /* no cases */
    FERRY_VERDICT_COUNT
} ferry_verdict;

ferry_verdict ferry_verdict_of(ferry_votes votes);

typedef struct ferry_claim {
    const char *id;
    const char *text, *source; /* what is said, and by whom */
    const char *rule;          /* what makes a case speak for it or against it */
    const char *needs;         /* without which there are no cases */
    const char *figures[3];    /* NULL ends them */
    /* Writes the numbers, as HTML, and counts the cases. */
    ferry_votes (*count)(const ferry_facts *facts, FILE *out);
} ferry_claim;

extern const ferry_claim ferry_claims[];
extern const size_t ferry_claim_count;

/* The claim with its verdict, numbers and figures. */
void ferry_put_claim(FILE *out, const ferry_claim *claim, const ferry_facts *facts);

#endif
