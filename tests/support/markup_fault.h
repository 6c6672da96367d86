/* What must be true of every translated markup; for tests and for fuzzing, which has no cmocka. */
#ifndef FERRY_SUPPORT_MARKUP_FAULT_H
#define FERRY_SUPPORT_MARKUP_FAULT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "engine/api/markup_parse.h"
#include "engine/api/markup_tags.h"

/* An item: its bytes, those of the start tag that it closes, and of the element around it. */
typedef struct seen {
    ferry_view bytes, own, around;
} seen;

typedef struct seen_list {
    seen *all; /* [count], sorted */
    size_t count;
    bool malformed;
} seen_list;

static int compare_seen(const void *a, const void *b)
{
    const seen *x = a, *y = b;
    int order = ferry_view_compare(x->bytes, y->bytes);
    if (order == 0) order = ferry_view_compare(x->own, y->own);
    return order != 0 ? order : ferry_view_compare(x->around, y->around);
}

/* Whether where the item ends, or what it belongs to, depends on what is around it: a tag without its partner, content
 * that is not closed. */
static bool is_malformed(ferry_view item)
{
    ferry_markup_tag_scanner scanner = {{0}};
    if (item.data[0] == '&') return false;
    const ferry_markup_tag first = ferry_markup_tag_read(&scanner, item, 0);
    if (first.kind == FERRY_MARKUP_TAG_COMMENT) return item.data[item.size - 1] != '>';
    if (first.kind != FERRY_MARKUP_TAG_START) return first.kind != FERRY_MARKUP_TAG_SINGLE;
    size_t last = item.size;
    while (item.data[--last] != '<') continue;
    const ferry_markup_tag end = ferry_markup_tag_read(&scanner, item, last);
    const bool closed =
        end.kind == FERRY_MARKUP_TAG_END && end.end == item.size && ferry_markup_tag_is_name(first.name, end.name);
    bool again = false; /* inside */
    for (size_t at = 1; at < last && !(first.element & FERRY_ELEMENT_RAW); at++) {
        if (item.data[at] != '<') continue;
        const ferry_markup_tag inner = ferry_markup_tag_read(&scanner, item, at);
        again = again || ferry_markup_tag_is_name(inner.name, first.name);
    }
    return !closed || again;
}

static seen_list look(ferry_view markup)
{
    ferry_markup parsed;
    if (ferry_markup_parse(markup, &parsed, NULL) != FERRY_OK) abort();
    seen_list list = {.all = calloc(parsed.item_count + 1, sizeof *list.all)};
    ferry_view *around = calloc(parsed.item_count + 1, sizeof *around);
    size_t depth = 0;
    for (size_t i = 0; i < parsed.item_count; i++) {
        const ferry_markup_item *item = &parsed.items[i];
        seen *added = &list.all[list.count++];
        if (item->kind == FERRY_MARKUP_CLOSE) added->own = around[depth--];
        added->bytes = ferry_utf8_trim((ferry_view){markup.data + item->begin, item->end - item->begin});
        added->around = around[depth];
        if (item->kind == FERRY_MARKUP_OPEN) around[++depth] = added->bytes;
        if (item->kind == FERRY_MARKUP_POINT) list.malformed = list.malformed || is_malformed(added->bytes);
    }
    free(around);
    ferry_markup_destroy(&parsed);
    qsort(list.all, list.count, sizeof *list.all, compare_seen);
    return list;
}

/* How often an item is in the text, at least. */
static size_t count_bytes(ferry_view text, ferry_view item)
{
    size_t count = 0;
    for (size_t at = 0; at + item.size <= text.size;) {
        const char *next = memchr(text.data + at, item.data[0], text.size - at - item.size + 1);
        if (next == NULL) break;
        at = (size_t)(next - text.data);
        const bool found = memcmp(next, item.data, item.size) == 0;
        count += found;
        at += found ? item.size : 1;
    }
    return count;
}

/* Each item of `source` is in `translation` once, byte by byte but for white space at its ends, and within the same
 * elements; of malformed markup, at least it is there. NULL, or why not, in words that last until the next call. */
static inline const char *find_fault(ferry_view source, ferry_view translation)
{
    static char fault[512];
    const seen_list from = look(source), to = look(translation);
    const bool counts = from.count == to.count;
    bool same = from.malformed || counts;
    for (size_t i = 0, first = 0; same && i < from.count; i++) {
        const ferry_view of = from.all[i].bytes, around = from.all[i].around;
        snprintf(fault, sizeof fault, "'%.*s' within '%.*s' is lost, double or elsewhere", (int)of.size, of.data,
                 (int)around.size, around.data);
        if (!from.malformed) {
            same = compare_seen(&from.all[i], &to.all[i]) == 0;
        } else if (i + 1 == from.count || !ferry_view_equal(of, from.all[i + 1].bytes)) {
            same = count_bytes(translation, of) >= i + 1 - first;
            first = i + 1;
        }
    }
    if (!from.malformed && !counts) snprintf(fault, sizeof fault, "%zu items became %zu", from.count, to.count);
    free(from.all);
    free(to.all);
    return same ? NULL : fault;
}

#endif
