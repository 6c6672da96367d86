/* Terms: what the translation of a line, and of its parts, must have. */
#ifndef FERRY_LINES_TERMS_H
#define FERRY_LINES_TERMS_H

#include "split.h"
#include "term_vocabulary.h"

/* A term of a line; in a part, its bytes are those of the part's text. */
struct ferry_part_term {
    ferry_term term;      /* bytes of the line as it is shown to the model */
    ferry_range original; /* the same bytes of the line as it is not shown */
    ferry_view piece;     /* of an opaque term, a number, and a target that the model cannot write: these bytes */
    const ferry_stand_in *stand_in; /* of an opaque term: shown instead; NULL: it is no opaque one, or none is left */
    bool glued;                     /* no blank is between the character before it and it, although one is shown */
    bool gap;                       /* a blank is shown behind it, although there is none */
    bool carried;  /* a model follows, which gets the term; here it is an opaque one, whatever its targets */
    bool entry;    /* one of the glossary, whose target may get capitals; */
    bool capitals; /* all of them, as the line has only capitals there */
    bool number;   /* a number of the source, which options.on_number made a term */
    bool possible; /* it is not cut by the end of a part, and fits into max_length */
    bool missing;  /* the translation lacks it */
    bool present;  /* its stand-in is there: to write it again would not help */
    bool follows;  /* nothing but white space, if anything, is between it and the stand-in before it */
    ferry_range found;
};

/* What a line comes from. */
typedef struct ferry_line_source {
    const ferry_model *model;
    const ferry_line_rules *rules;
    ferry_text text, prefix;                 /* prefix: the given beginning of the translation; size 0: none */
    ferry_terms terms;                       /* of the line */
    const ferry_term_vocabulary *vocabulary; /* if there are terms, or a glossary */
    size_t offset;                           /* of the line in the text whose bytes the terms count */
    bool carried;                            /* a model follows, which gets the terms */
    const ferry_stop *stop;
} ferry_line_source;

/* The terms of a line, and the line as it is shown. Empty when zeroed. */
typedef struct ferry_line_terms {
    ferry_part_term *terms; /* [count] */
    size_t count, capacity;
    size_t opaque[FERRY_STAND_INS]; /* [opaque_count] indices of those with a stand-in */
    size_t opaque_count;
    char *shown; /* with stand-ins for opaque terms; NULL: the line itself */
} ferry_line_terms;

void ferry_line_terms_destroy(ferry_line_terms *terms);
/* Reads the terms of a line, and finds the entries of options.glossary. *valid: the line, without ill-formed UTF-8; it
 * becomes what is shown. *alone: nothing that a reader sees is beside opaque terms. Errors: MEMORY. */
ferry_status ferry_line_terms_read(ferry_line_terms *line, const ferry_line_source *from, ferry_view *valid,
                                   bool *alone, ferry_error *error);
/* Gives the parts, which point into `shown`, their terms. Errors: MEMORY. */
ferry_status ferry_line_terms_share(const ferry_line_terms *line, const char *shown, ferry_parts *parts,
                                    ferry_error *error);
/* Maps ranges [count] of what is shown to the line itself. */
void ferry_line_terms_unshow(const ferry_line_terms *line, ferry_range *ranges, size_t count);

/* Makes the numbers of the part's text terms. Errors: MEMORY, and those of the tokenizer. */
ferry_status ferry_terms_take_numbers(const ferry_model *model, const ferry_line_rules *rules, ferry_part *part,
                                      ferry_error *error);

#endif
