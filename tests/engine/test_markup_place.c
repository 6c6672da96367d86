/* Tags are put around the words that theirs are aligned to: hand-made alignments. */
#include "tests/support/support.h"

#include "base/utf8.h"
#include "engine/api/markup_place.h"

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

/* The markup, each item of it once, in the order of `target`. `source` and `target`: tokens, which "|" separates;
 * `alignment`: for each target token the number of the source token that it is aligned to, "-" for none, or several
 * with weights, "0:0.6,1:0.4"; "/" begins a part that was translated by itself. Kept. */
static const char *placed(const char *markup, const char *source, const char *target, const char *alignment)
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

#define PLACED(markup, source, target, alignment, expected)                                                            \
    assert_string_equal(placed(markup, source, target, alignment), expected)

TEST(test_words_keep_their_tags)
{
    PLACED("a <b>b</b> c", "a| b| c", "x| y| z", "0 1 2", "x <b>y</b> z");
    PLACED("a <b>b</b> c", "a| b| c", "z| x| y", "2 0 1", "z x <b>y</b>");
    PLACED("<b>a b</b> c", "a| b| c", "z| y| x", "2 1 0", "z <b>y x</b>");
    PLACED("<i>a</i> <b>b</b>", "a| b", "y| x", "1 0", "<b>y</b> <i>x</i>");
    PLACED("<p><a><b>a</b> b</a> c</p>", "a| b| c", "z| y| x", "2 1 0", "<p>z <a>y <b>x</b></a></p>");
    PLACED("<a><b>a</b></a> c", "a| c", "z| x", "1 0", "z <a><b>x</b></a>");
    PLACED("a <b>b</b>, c", "a| b|,| c", "z|,| y| x", "3 2 1 0", "z, <b>y</b> x");
}

TEST(test_words_that_are_apart)
{
    /* The longest run has the tag; a word of the parent may be within it. */
    PLACED("<b>a b</b> c", "a| b| c", "x| z| y", "0 2 1", "<b>x z y</b>");
    PLACED("<b>a</b> c d e", "a| c| d| e", "x| u| v| w| y", "0:.9 1 2 3 0:.4", "<b>x</b> u v w y");
    /* No words of a sibling may. */
    PLACED("<b>a b</b> <i>c</i>", "a| b| c", "x| z| y", "0 2 1", "<b>x</b> <i>z</i> y");
    /* A word that is aligned to the element's, but less than another word, is not in the tag of a single word. */
    PLACED("to <b>school</b>", "to| school", "zur| Schule", "1:.6,0:.4 1:.9", "zur <b>Schule</b>");
    PLACED("<b>go to school</b> now", "go| to| school| now", "geh| zur| Schule| jetzt", "0 2:.6 2:.9 3",
           "<b>geh zur Schule</b> jetzt");
    PLACED("x <b>go to school</b>", "x| go| to| school", "x| zu| Schule", "0 3:.5 3:.9", "x <b>zu Schule</b>");
    PLACED("a <b>go to school</b>", "a| go| to| school", "zu| Schule| x", "3:.5 3:.9 0", "<b>zu Schule</b> x");
    PLACED("a <b>go to school</b>", "a| go| to| school", "x| Schule| zu", "0 3:.9 3:.5", "x <b>Schule zu</b>");
    PLACED("a <b>go to school</b>", "a| go| to| school", "x| Schule|,| zu", "0 3:.9 3:.5 3:.5", "x <b>Schule</b>, zu");
    PLACED("x <b>to school</b>", "x| to| school", "x| zu| Schule", "0 2:.5 2:.9",
           "x zu <b>Schule</b>"); /* two tokens */
    /* The first of equal runs: one word of two, with two of the parent between them. */
    PLACED("<b>a b</b> c d", "a| b| c| d", "x| u| v| y", "0 2 3 1", "<b>x</b> u v y");
    PLACED("<b>a b</b> c", "a| b| c", "x| u| y| z", "0 - 1 2", "<b>x u y</b> z");
    PLACED("<b>a b</b> c", "a| b| c", "x| u| v| y| z", "0 - - 1 2", "<b>x</b> u v y z");
    /* The first of words that are aligned equally, and the first of tokens. */
    PLACED("a <b>b</b>", "a| b", "x| y| z", "0 1:.5 1:.5", "x <b>y</b> z");
    PLACED("a <kbd>b</kbd>", "a| b", "x", "0:.5,1:.5", "<kbd>b</kbd>x");
}

TEST(test_words_without_a_word)
{
    /* The word to which the text is aligned most, even if that is another one's. */
    PLACED("a <b>b</b> c", "a| b| c", "x| z", "0 2:.7,1:.3", "x <b>z</b>");
    PLACED("a <b>b</b>.", "a| b|.", "x|.", "0:.9,1:.1 2:.8,1:.2", "<b>x</b>.");
    PLACED("a <b>1</b>.", "a| 1|.", "x|.", "0:.9,1:.1 2:.8,1:.2", "<b>x</b>.");
    PLACED("a <b>b</b> c", "a| b| c", "x| z", "0 2", "x <b></b>z");
    PLACED("a <b>b</b> c", "a| b| c", "", "", "<b></b>");
}

TEST(test_parts_of_words)
{
    PLACED("a <b>b</b>", "a| b", "x| yy|y|y", "0 1 0 1", "x <b>yyyy</b>");
    PLACED("<u>un</u>do", "un|do", "mach| rück|gäng|ig", "1 0 0 1", "mach <u>rückgängig</u>");
    PLACED("x<sup>2</sup>", "x|2", "x|2", "0 1", "x<sup>2</sup>");
    PLACED("<b>看</b>书", "看|书", "书|看", "1 0", "书<b>看</b>");
    PLACED("a <b>b</b> c", "a| b| c", "x| 1|2| y", "0 1 2:.3 2", "x <b>12</b> y");
    PLACED("a <b>b</b> c", "a| b| c", "x| a|1", "0 1 2", "x <b>a</b>1");
    PLACED("a <b>b</b> c", "a| b| c", "x| 1|a", "0 1 2", "x <b>1</b>a");
    PLACED("a <b>b</b> c", "a| b| c", "x| e|\u0301| y", "0 1 2:.3 2", "x <b>e\u0301</b> y");
    /* A token that an element has part of belongs to it, unless it belongs to another one. */
    PLACED("hel<b>lo</b> a", "hello| a", "x| y", "1 0", "x <b>y</b>");
    PLACED("he<b>llo</b> a", "hello| a", "x| y", "1 0", "x <b>y</b>");
    PLACED("<b>he</b>llo a", "hello| a", "x| y", "1 0", "x <b>y</b>");
    PLACED("h<b>el</b>lo a", "hello| a", "x| y", "1 0", "x <b>y</b>");
    PLACED("<i>he</i><b>llo</b> a", "hello| a", "x| y", "0 1", "<i></i><b>x</b> y");
    PLACED("<i>hel</i><b>lo</b> a", "hello| a", "x| y", "0 1", "<i>x</i><b></b> y");
    PLACED("a <u><b>he</b></u>llo", "a| hello", "x| y", "1 0", "<u><b>x</b></u> y");
    PLACED("<b>d</b><i>o</i><a>g</a>", "dog", "Hund", "0", "<b></b><i>Hund</i><a></a>");
}

TEST(test_what_stands_alone)
{
    PLACED("a <img>b c", "a| b| c", "z| y| x", "2 1 0", "z <img>y x");
    PLACED("a<img> b c", "a| b| c", "z| y| x", "2 1 0", "z y x<img>");
    PLACED("a <img> b", "a| b", "y| x", "1 0", "<img> y x");
    PLACED("a<!-- 1 --><!-- 2 --> b", "a| b", "y| x", "1 0", "y x<!-- 1 --><!-- 2 -->");
    PLACED("a <i></i>b", "a| b", "y| x", "1 0", "<i></i>y x");
    PLACED("<b>a<img> b</b> c", "a| b| c", "z| y| x", "2 1 0", "z <b>y x<img></b>");
    PLACED("<b>a b</b> <img>c", "a| b| c", "x| z| y", "0 2 1", "<b>x z y</b><img>");
    PLACED("<img>c <b>a b</b>", "c| a| b", "x| z| y", "1 0 2", "<img><b>x z y</b>");
    /* At the last of several words, and at the first; at a word that is aligned to another token more. */
    PLACED("a<img> b", "a| b", "x| y| z", "0 1 0:.5", "x y z<img>");
    PLACED("a <img>b", "a| b", "x| y| z", "1:.5 0 1", "<img>x y z");
    PLACED("a <img>b c", "a| b| c", "y| x", "0 1:.4,2:.6", "y <img>x");
    PLACED("c a<img> b", "c| a| b", "y| x", "0:.6,1:.4 2", "y<img> x");
    PLACED("a <br> b</i>", "a |\n|b", "x| y", "0 2", "x <br>y</i>");
}

TEST(test_elements_that_go_on_in_another_part)
{
    PLACED("a <b>b c</b> d", "a| b| c| d", "x| y| w| z", "0 1 /2 2 3", "x <b>y w</b> z");
    PLACED("a <b>b c</b> d", "a| b| c| d", "y| x| w| z", "1 0 /2 3 2", "y x<b></b> w z");
    PLACED("a <b><i>b</i> c</b> d <u>e</u>", "a| b| c| d| e", "y| x| w| z| v", "0 1 /2 4 2 3",
           "y <b><i>x</i></b> <u>w</u> z v");
    PLACED("a <b>b c e</b> d", "a| b| c| e| d", "x| y| w| z| v", "0 1 /2 2 4 3", "x <b>y w</b> z v");
    PLACED("a <b>b c e</b> d", "a| b| c| e| d", "x| y| w| z| v", "0 1 /2 2 - 3", "x <b>y w z v</b>");
    PLACED("a <b>b e c</b> d", "a| b| e| c| d", "y| x| v| w| z", "1 0 2 /3 3 4", "y x <b>v w</b> z");
    PLACED("a <b>b</b> c", "a| b| c", "x| y| z", "0 /1 1 /2 2", "x <b>y</b> z");
}

TEST(test_kept_words)
{
    PLACED("at <b translate=no>Apple</b> in", "at| Apple| in", "in| bei| Apple| x", "2 1 1 0",
           "in bei <b translate=no>Apple</b> x");
    PLACED("<b translate=no>New York</b> a", "New| York| a", "a| New| York", "1 2 0", "a <b translate=no>New York</b>");
    PLACED("<kbd>New</kbd> a", "New| a", "News| New| x", "0 1 1", "News <kbd>New</kbd> x");
    PLACED("at <kbd>X</kbd> in", "at| X| in", "in| Y| bei", "2 1 0", "in <kbd>X</kbd> bei");
    PLACED("<kbd>X</kbd> <kbd>X</kbd> a", "X| X| a", "X| a| X", "0 2 1", "<kbd>X</kbd> a <kbd>X</kbd>");
}
