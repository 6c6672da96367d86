/* Markup and hand-made alignments. */
#ifndef FERRY_SUPPORT_MARKUP_CHECKS_H
#define FERRY_SUPPORT_MARKUP_CHECKS_H

/* The markup, each item of it once, in the order of `target`. `source` and `target`: tokens, which "|" separates;
 * `alignment`: for each target token the number of the source token that it is aligned to, "-" for none, or several
 * with weights, "0:0.6,1:0.4"; "/" begins a part that was translated by itself. Kept. */
const char *placed(const char *markup, const char *source, const char *target, const char *alignment);

#endif
