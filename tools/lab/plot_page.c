#include "plot_page.h"

#include <stdlib.h>
#include <string.h>

#include "tools/command.h"

bool ferry_plot_succeeded(ferry_status status, const ferry_error *error)
{
    if (status != FERRY_ERROR_ARGUMENT) return ferry_succeeded(status, error);
    ferry_complain("--%s", error->message);
    return false;
}

bool ferry_page_begin(ferry_page *page)
{
    *page = (ferry_page){.y = 36};
    const bool opened = ferry_memory_stream_open(&page->drawn);
    if (!opened) ferry_complain("out of memory");
    page->out = page->drawn.file;
    return opened;
}

void ferry_page_write(ferry_page *page, ferry_svg_font font, const char *text)
{
    page->y = ferry_svg_paragraph(page->out, FERRY_PAGE_MARGIN, page->y, FERRY_PAGE_WIDTH - 2 * FERRY_PAGE_MARGIN, font,
                                  ferry_svg_literal(text));
}

bool ferry_page_end(ferry_page *page, bool complete, const char *title, FILE *out)
{
    const bool kept = ferry_memory_stream_close(&page->drawn);
    if (!kept) ferry_complain("out of memory");
    if (kept && complete) {
        ferry_svg_begin(out, FERRY_PAGE_WIDTH, page->y, title);
        fwrite(page->drawn.data, 1, page->drawn.size, out);
        ferry_svg_end(out);
    }
    free(page->drawn.data);
    return kept && complete;
}
