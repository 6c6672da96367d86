/* The primitives of tools/lab/svg.h draw at the places that the axes give. (cli_plot: whole pictures.) */
#define _POSIX_C_SOURCE 200809L /* fmemopen */
#include "tests/support/support.h"

#include "tools/lab/svg.h"

static char text[8192];

static FILE *begin(void)
{
    FILE *out = fmemopen(text, sizeof text, "w");
    assert_non_null(out);
    return out;
}

static void expect(const char *part)
{
    const char *found = strstr(text, part);
    if (found == NULL || strstr(found + 1, part) != NULL) fail_msg("expected once: %s\nfound: %s", part, text);
}

/* A gap divides a line; a band follows its ends. 0 … 10 across is 100 … 200, 0 … 1 up is 120 … 20. */
TEST(test_lines)
{
    static const ferry_svg_plot plot = {
        .x = 100, .y = 20, .width = 100, .height = 100, .across = {.last = 10, .whole = true}, .up = {.last = 1}};
    static const float values[] = {0, 0.5F, NAN, 1, 0.25F}, low[] = {0, 0.25F, NAN, 0.5F, 0},
                       high[] = {0.5F, 1, NAN, 1, 0.75F};
    const ferry_svg_line lines[] = {{.name = "rope & co", .values = values, .low = low, .high = high},
                                    {.values = values, .steps = true}};
    FILE *out = begin();
    ferry_svg_lines(out, &plot, lines, 2, 5, 1);
    fclose(out);
    expect("<title>rope &amp; co</title>");
    expect("points=\"110.00,120.00 120.00,70.00 \"");
    expect("points=\"140.00,20.00 150.00,95.00 \"");
    expect("points=\"110.00,120.00 120.00,95.00 120.00,20.00 110.00,70.00 \"");
    expect("points=\"105.00,120.00 115.00,120.00 115.00,70.00 125.00,70.00 \"");
}

/* What XML does not permit, or a reader does not see, is replaced. */
TEST(test_escapes)
{
    FILE *out = begin();
    ferry_svg_escape(out,
                     ferry_svg_literal("<\x1B\n\x7F\xC2\x9B|\xE2\x80\xAE\xEF\xBF\xBE|\xFF\xE2\x80|&\"\xE2\x80\x8C>"));
    fclose(out);
    assert_string_equal(text, "&lt;\uFFFD\uFFFD\uFFFD\uFFFD|\uFFFD\uFFFD|\uFFFD\uFFFD|&amp;&quot;\u200C&gt;");
}
