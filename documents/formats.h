/* The formats of documents. A format is a reader in a file of its own, a declaration here and a row in formats.c. */
#ifndef FERRY_DOCUMENTS_FORMATS_H
#define FERRY_DOCUMENTS_FORMATS_H

#include "document.h"

extern const ferry_document_format ferry_format_text, ferry_format_html, ferry_format_srt, ferry_format_vtt;
extern const ferry_document_format ferry_format_markdown, ferry_format_po;

/* All of them; NULL at the end. */
extern const ferry_document_format *const ferry_document_formats[];
/* By its name, and by the ending of a file's name in any case; NULL if there is none. */
const ferry_document_format *ferry_document_format_named(const char *name);
const ferry_document_format *ferry_document_format_of_file(const char *path);

#endif
