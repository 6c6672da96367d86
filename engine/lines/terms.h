/* Terms: what the translation of a part must have. A part is searched as without terms. While its best hypothesis lacks
 * one, it is searched again with a prefix that ends with the term: the hypothesis up to the place where the weights of
 * cross-attention put the term's span. */
#ifndef FERRY_LINES_TERMS_H
#define FERRY_LINES_TERMS_H

#include "split.h"

/* A name that is one token in the source and in the target. It stands for an opaque term until the text is complete. */
typedef struct ferry_stand_in {
    const char *name;
    int32_t id; /* of the target */
} ferry_stand_in;

enum { FERRY_STAND_INS = 16 };

/* What terms need to know about a model's vocabularies. */
typedef struct ferry_term_vocabulary {
    /* A bit for each target id; NULL: unknown. */
    uint64_t *word_begins; /* it begins a word or a mark, or has no text */
    uint64_t *numberless;  /* it has no digit */
    ferry_stand_in stand_ins[FERRY_STAND_INS];
    size_t stand_in_count;
} ferry_term_vocabulary;

/* Errors: MEMORY, UNSUPPORTED (target text cannot become tokens). *vocabulary is zeroed before. */
ferry_status ferry_term_vocabulary_create(const ferry_model *model, ferry_term_vocabulary *vocabulary,
                                          ferry_error *error);
void ferry_term_vocabulary_destroy(ferry_term_vocabulary *vocabulary);

/* A term of a line; in a part, its bytes are those of the part's text. */
struct ferry_part_term {
    ferry_term term;      /* bytes of the line as it is shown to the model */
    ferry_range original; /* the same bytes of the line as it is not shown */
    ferry_view piece;     /* of an opaque term, a number, and a target that the model cannot write: these bytes */
    const ferry_stand_in *stand_in; /* of an opaque term: shown instead; NULL: it is no opaque one, or none is left */
    bool glued;                     /* no blank is between the character before it and it, although one is shown */
    bool carried;  /* a model follows, which gets the term; here it is an opaque one, whatever its targets */
    bool entry;    /* one of the glossary, whose target may get capitals; */
    bool capitals; /* all of them, as the line has only capitals there */
    bool number;   /* a number of the source, which options.on_number made a term */
    bool possible; /* it is not cut by the end of a part, and fits into max_length */
    bool missing;  /* the translation lacks it */
    bool present;  /* its stand-in is there: to write it again would not help */
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

/* Looks for the part's terms in its translation of ids [count]: each at a place of its own, between the beginning and
 * the end of words; opaque ones once. `text`: of the ids; `unshown`: with the pieces of opaque terms.
 * Returns the number of terms that it lacks. */
size_t ferry_terms_look(ferry_part *part, const int32_t *ids, size_t count, ferry_view text, bool unshown);

/* Sets words [count], which are zeroed, to the pieces of the opaque terms that ids [count] stand for. */
void ferry_terms_unshow(const ferry_part *part, const int32_t *ids, size_t count, ferry_word *words);

/* Sets where the pieces of opaque terms are in the part's translation, ids [count] with these ranges. */
void ferry_terms_locate(const ferry_part *part, const int32_t *ids, size_t count, const ferry_range *ranges);
/* Gives terms [count] that are carried and not missing to the result, where they were found. Errors: MEMORY. */
ferry_status ferry_terms_carry(const ferry_part_term *terms, size_t count, ferry_result_line *result,
                               ferry_error *error);

/* Makes the numbers of the part's text terms. Errors: MEMORY, and those of the tokenizer. */
ferry_status ferry_terms_take_numbers(const ferry_model *model, const ferry_line_rules *rules, ferry_part *part,
                                      ferry_error *error);

/* The best hypothesis of a part's search. */
typedef struct ferry_terms_hypothesis {
    const int32_t *ids; /* [length] */
    size_t length;
    const float *weights; /* [length, part->ids.count] */
} ferry_terms_hypothesis;

/* Whether the translation that was looked at lacks a term with a digit, other than the part's numbers. */
bool ferry_terms_lack_digits(const ferry_part *part);
/* Sets the part's choices: prefixes that end with the leftmost missing term, one for each of its targets that fits, and
 * with the end of a word; none if no term is missing or can be written, and if `digits`, and it lacks digits:
 * beside a wrong number, the right one would not help. Errors: MEMORY, and those of the tokenizer. */
ferry_status ferry_terms_write(const ferry_model *model, const ferry_line_rules *rules,
                               const ferry_term_vocabulary *vocabulary, const ferry_terms_hypothesis *hypothesis,
                               bool digits, ferry_part *part, ferry_error *error);
/* Makes one of the choices the part's prefix: the likeliest if its log-probability is larger than the first one's by
 * more than 1.5, else the first one. The choices, at least one, are scored if there are several. Errors: MEMORY. */
ferry_status ferry_terms_choose(const ferry_line_rules *rules, ferry_part *part, ferry_error *error);

#endif
