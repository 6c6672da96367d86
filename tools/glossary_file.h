/* A glossary for documents, from a file: a line for each entry, "source" or "source TAB target". */
#ifndef FERRY_TOOLS_GLOSSARY_FILE_H
#define FERRY_TOOLS_GLOSSARY_FILE_H

#include "documents/ferry_documents.h"
#include "line_reader.h"

typedef struct ferry_glossary_file {
    ferry_lines lines;            /* whose bytes the entries are */
    ferry_document_term *entries; /* [count] */
    size_t count;
} ferry_glossary_file;

/* `path` NULL: no entries. Prints a message and returns false if it cannot be read. To be closed in either case. */
bool ferry_glossary_file_open(ferry_glossary_file *file, const char *path);
void ferry_glossary_file_close(ferry_glossary_file *file);

#endif
