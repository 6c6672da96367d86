/* "Which one when": sentences computed from the comparison, each with its figure. */
#ifndef FERRY_LAB_REPORT_ADVICE_H
#define FERRY_LAB_REPORT_ADVICE_H

#include "report_facts.h"

/* A list. Returns false when out of memory. */
bool ferry_put_advice(FILE *out, const ferry_facts *facts);

#endif
