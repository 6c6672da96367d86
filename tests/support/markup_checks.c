#include "markup_checks.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "engine/api/markup_place.h"
#include "support.h"

/* ---- alignments ---- */

enum { MOST = 64 };

typedef struct tokens {
    char text[4096];
    size_t size;
    ferry_range ranges[MOST];
    size_t count;
} tokens;

static void split_tokens(const char *from, tokens *to)
{
    *to = (tokens){0};
    while (*from != '\0') {
        const size_t bytes = strcspn(from, "|");
        assert_true(to->count < MOST && to->size + bytes < sizeof to->text);
        memcpy(to->text + to->size, from, bytes);
        const ferry_view raw = {to->text + to->size, bytes}, token = ferry_utf8_trim(raw);
        const size_t begin = to->size + (size_t)(token.size > 0 ? token.data - raw.data : 0);
        to->ranges[to->count++] = (ferry_range){begin, begin + token.size};
        to->size += bytes;
        from += bytes + (from[bytes] == '|');
    }
}

/* Fills in the weights of `count` target tokens. */
static void read_alignment(const char *alignment, size_t source_count, ferry_place_weights *weights, size_t count)
{
    size_t first = 0, begin = 0;
    for (size_t t = 0; t <= count; t++) {
        alignment += strspn(alignment, " ");
        if (t == count || *alignment == '/') {
            const size_t end = t == count ? source_count : strtoul(alignment + 1, (char **)&alignment, 10);
            for (size_t i = begin; i < t; i++) {
                weights[i].values += first;
                weights[i].first = first;
                weights[i].count = end - first;
            }
            first = end;
            begin = t;
        }
        if (t == count) break;
        float *values = kept_memory((source_count + 1) * sizeof *values);
        weights[t].values = values;
        alignment += strspn(alignment, " ");
        if (*alignment == '-') {
            alignment++;
            continue;
        }
        for (;; alignment++) {
            const size_t s = strtoul(alignment, (char **)&alignment, 10);
            assert_true(s < source_count);
            values[s] = *alignment == ':' ? strtof(alignment + 1, (char **)&alignment) : 1;
            if (*alignment != ',') break;
        }
    }
    assert_true(*alignment == '\0');
}

static void write_placed(const ferry_markup *parsed, ferry_view markup, const tokens *target, const ferry_placed *items,
                         char *out)
{
    size_t at = 0;
    for (size_t i = 0; i < parsed->item_count; i++) {
        const ferry_markup_item *item = &parsed->items[items[i].item];
        assert_in_range(items[i].at, at, target->size);
        const bool kept_end = item->kept && item->kind == FERRY_MARKUP_CLOSE;
        if (!kept_end)
            out += sprintf(out, "%.*s%.*s", (int)(items[i].at - at), target->text + at, (int)(item->end - item->begin),
                           markup.data + item->begin);
        at = items[i].at;
    }
    sprintf(out, "%.*s", (int)(target->size - at), target->text + at);
}

const char *placed(const char *markup, const char *source, const char *target, const char *alignment)
{
    tokens from, to;
    ferry_markup parsed;
    ferry_place_weights weights[MOST] = {{0}};
    ferry_placed items[MOST];
    char *out = kept_memory(strlen(markup) + 4096);
    const ferry_view view = ferry_text_view(markup);
    CHECK(ferry_markup_parse(view, &parsed, &error));
    split_tokens(source, &from);
    split_tokens(target, &to);
    if (parsed.text.size != from.size || memcmp(parsed.text.data, from.text, from.size) != 0)
        fail_msg("%s: text is '%.*s', not '%s'", markup, (int)parsed.text.size, parsed.text.data, from.text);
    read_alignment(alignment, from.count, weights, to.count);
    const ferry_place_sentence sentence = {
        .source = {from.text, from.size},
        .target = {to.text, to.size},
        .items = parsed.items,
        .item_count = parsed.item_count,
        .source_tokens = from.ranges,
        .target_tokens = to.ranges,
        .weights = weights,
        .source_count = from.count,
        .target_count = to.count,
    };
    assert_true(parsed.item_count <= MOST);
    CHECK(ferry_markup_place(&sentence, items, &error));
    write_placed(&parsed, view, &to, items, out);
    ferry_markup_destroy(&parsed);
    return out;
}
