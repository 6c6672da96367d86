/* The comparison as one page of HTML that needs nothing else: what was compared, which encoding when, curves by length,
 * cost, probes, and what it says about common claims. */
#ifndef FERRY_LAB_REPORT_H
#define FERRY_LAB_REPORT_H

#include <stdio.h>

#include "comparison.h"

/* The caller checks for errors of the stream. Returns false when out of memory. */
bool ferry_report(FILE *out, const ferry_comparison *comparison);

#endif
