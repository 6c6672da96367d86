/* The segmenter of a vocabulary, and whether the two are of one model. */
#ifndef FERRY_TEXT_SEGMENTERS_H
#define FERRY_TEXT_SEGMENTERS_H

#include "models/plan/plan.h"
#include "models/plan/write.h"

/* If the vocabulary has pieces that only a segmenter makes (▁Haus, Ha@@) and plan->text has no segmenter: finds the
 * only file of the source that fits by its content. plan->note names it. Errors: UNSUPPORTED (no file fits). */
ferry_status ferry_import_find_segmenter(ferry_import_plan *plan, ferry_error *error);
/* FORMAT if a file of words cannot belong to the SentencePiece model beside it. Calls options->noted if that is only
 * unlikely. */
ferry_status ferry_import_check_vocabularies(const ferry_import_plan *plan, const ferry_import_options *options,
                                             ferry_error *error);

#endif
