#include "formats.h"

static ferry_status write_markup(const ferry_document *document, ferry_string *out, ferry_error *error)
{
    return ferry_string_append(out, (ferry_view){document->written.data, document->written.size}, error);
}

static const char *const endings[] = {".html", ".htm", ".xhtml", NULL};
const ferry_document_format ferry_format_html = {
    .name = "html", .endings = endings, .is_markup = true, .write_markup = write_markup};
