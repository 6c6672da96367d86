#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "plot_page.h"

#include <stdlib.h>
#include <string.h>

#include "tools/command.h"

bool ferry_page_begin(ferry_page *page)
{
    *page = (ferry_page){.y = 36};
    page->out = open_memstream(&page->data, &page->size);
    if (page->out == NULL) ferry_complain("out of memory");
    return page->out != NULL;
}

void ferry_page_write(ferry_page *page, ferry_svg_font font, const char *text)
{
    page->y = ferry_svg_paragraph(page->out, FERRY_PAGE_MARGIN, page->y, FERRY_PAGE_WIDTH - 2 * FERRY_PAGE_MARGIN, font,
                                  ferry_svg_literal(text));
}

bool ferry_page_end(ferry_page *page, bool complete, const char *title, FILE *out)
{
    bool kept = !ferror(page->out);
    kept = fclose(page->out) == 0 && kept;
    if (!kept) ferry_complain("out of memory");
    if (kept && complete) {
        ferry_svg_begin(out, FERRY_PAGE_WIDTH, page->y, title);
        fwrite(page->data, 1, page->size, out);
        ferry_svg_end(out);
    }
    free(page->data);
    return kept && complete;
}
