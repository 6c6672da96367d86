/* A file of translations that an earlier run left unfinished, because it was killed or the disk was full: how many
 * lines of input it has, and that it was made as this run would make it. Nothing is recorded for that: the last lines
 * are translated once more and compared. */
#ifndef FERRY_TOOLS_RESUME_H
#define FERRY_TOOLS_RESUME_H

#include <stdio.h>

#include "base/system.h"

typedef struct ferry_resume {
    const char *path;
    ferry_mapped_file file; /* until ferry_resume_close */
    size_t complete;        /* lines of input whose translations are complete … */
    size_t end;             /* … and the bytes of the file that these are */
    size_t checked;         /* the last ones of them, which are to be compared: bytes `begin` … `end` - 1 */
    size_t begin;
} ferry_resume;

/* `out`: `path`, open for reading, too. `numbered`: lines of output begin with the number of their line of input
 * (--nbest), as one may have several; otherwise each has one. Prints a message and returns false where the file cannot
 * be continued. */
bool ferry_resume_open(ferry_resume *resume, FILE *out, const char *path, bool numbered);
/* Whether the `checked` lines are now translated as in the file; prints a message if not. */
bool ferry_resume_matches(const ferry_resume *resume, ferry_view again);
/* Allowed on a zeroed object. */
void ferry_resume_close(ferry_resume *resume);

#endif
