/* The file of --glossary. Each line has a source, a tab, and its targets, divided by '|'; a source alone stays. In a
 * file whose name ends in .csv, a comma takes the tab's place, and a field may be in quotes (RFC 4180): it may then
 * have commas, ends of lines, and quotes, each written twice. A line that begins with '#' is a comment. */
#ifndef FERRY_TOOLS_GLOSSARY_FILE_H
#define FERRY_TOOLS_GLOSSARY_FILE_H

#include <stdbool.h>

#include "engine/ferry.h"

/* *glossary belongs to the caller. Prints a message, with the line, and returns false if the file cannot be read. */
bool ferry_glossary_file_read(const char *path, ferry_glossary **glossary);

#endif
