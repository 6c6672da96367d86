/* The formats of documents. A format is a reader in a file of its own, a declaration here and a row in formats.c. */
#ifndef FERRY_DOCUMENTS_FORMATS_FORMATS_H
#define FERRY_DOCUMENTS_FORMATS_FORMATS_H

#include "documents/document.h"

extern const ferry_document_format ferry_format_text, ferry_format_html, ferry_format_srt, ferry_format_vtt;
extern const ferry_document_format ferry_format_markdown, ferry_format_po, ferry_format_json;

/* Reads bytes begin … end - 1 of the document as HTML: blocks and attributes. */
ferry_status ferry_html_read(ferry_document *document, size_t begin, size_t end);
/* The attributes of the tag whose bytes these are. */
ferry_status ferry_html_read_attributes(ferry_document *document, size_t begin, size_t end);
/* The bytes of front matter: "---", lines, "---" or "..." at the beginning; of "+++", too. 0: there is none. */
size_t ferry_front_matter_size(ferry_view source);
/* The write_text of HTML, and of WebVTT: with "&amp;", "&lt;" and "&gt;". */
ferry_status ferry_html_write_text(ferry_buffer *out, ferry_view text, bool begins_line, ferry_error *error);

/* All of them; NULL at the end. */
extern const ferry_document_format *const ferry_document_formats[];
/* By its name ("markdown", or one of its endings: "md"), and by the ending of a file's name in any case; NULL if there
 * is none. */
const ferry_document_format *ferry_document_format_named(const char *name);
const ferry_document_format *ferry_document_format_of_file(const char *path);
/* Whether files of this name have a structure that no format reads: tables, catalogs of other systems. */
bool ferry_document_has_other_format(const char *path);

#endif
