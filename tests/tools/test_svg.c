/* The primitives of tools/lab/svg.h draw at the places that the axes give. */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "tests/support/support.h"

#include <math.h>
#include <stdio.h>

#include "tools/lab/svg.h"

typedef struct picture {
    FILE *out;
    char *text;
    size_t size;
} picture;

/* The stream keeps the addresses of text and size. */
static void begin(picture *p)
{
    p->out = open_memstream(&p->text, &p->size);
    assert_non_null(p->out);
}

static void end(picture *p)
{
    assert_int_equal(fclose(p->out), 0);
}

static int count(const picture *p, const char *part)
{
    int found = 0;
    for (const char *at = p->text; (at = strstr(at, part)) != NULL; at++) found++;
    return found;
}

static void expect(const picture *p, const char *part)
{
    if (count(p, part) != 1) fail_msg("expected once: %s\nfound: %s", part, p->text);
}

/* 0 … 10 across is 100 … 200, 0 … 1 up is 120 … 20. */
static const ferry_svg_plot plot = {.x = 100,
                                    .y = 20,
                                    .width = 100,
                                    .height = 100,
                                    .title = "a < b",
                                    .across = {.label = "length", .last = 10, .whole = true},
                                    .up = {.label = "share", .last = 1}};

TEST(test_frame)
{
    picture p;
    begin(&p);
    ferry_svg_frame(p.out, &plot);
    ferry_svg_mark_across(p.out, &plot, 2.5);
    ferry_svg_mark_across(p.out, &plot, -1); /* outside */
    ferry_svg_mark_across(p.out, &plot, 11);
    ferry_svg_mark_up(p.out, &plot, 0.25);
    end(&p);
    expect(&p, ">a &lt; b</text>");
    expect(&p, "<text x=\"150\" y=\"135\" font-size=\"11\" text-anchor=\"middle\" class=\"soft\">5</text>");
    expect(&p, "<text x=\"94\" y=\"74\" font-size=\"11\" text-anchor=\"end\" class=\"soft\">0.5</text>");
    expect(&p, "<path class=\"mark\" d=\"M125 20L125 120\"/>");
    expect(&p, "<path class=\"mark\" d=\"M100 95L200 95\"/>");
    assert_int_equal(count(&p, "\"mark\""), 2);
    free(p.text);
}

/* A gap divides a line; a band follows its ends; colors repeat with dashes. */
TEST(test_lines)
{
    static const float values[] = {0, 0.5F, NAN, 1, 0.25F}, low[] = {0, 0.25F, NAN, 0.5F, 0},
                       high[] = {0.5F, 1, NAN, 1, 0.75F};
    const ferry_svg_line lines[] = {{.name = "rope & co", .values = values, .low = low, .high = high, .color = 2},
                                    {.values = values, .color = FERRY_SVG_COLORS, .steps = true, .dots = true}};
    picture p;
    begin(&p);
    ferry_svg_lines(p.out, &plot, lines, 2, 5, 1);
    end(&p);
    expect(&p, "<g class=\"c2\">\n<title>rope &amp; co</title>");
    expect(&p, "points=\"110.00,120.00 120.00,70.00 \"");
    expect(&p, "points=\"140.00,20.00 150.00,95.00 \"");
    expect(&p, "points=\"110.00,120.00 120.00,95.00 120.00,20.00 110.00,70.00 \"");
    expect(&p, "points=\"105.00,120.00 115.00,120.00 115.00,70.00 125.00,70.00 \"");
    assert_int_equal(count(&p, "stroke-dasharray"), 2);
    assert_int_equal(count(&p, "<circle"), 4);
    free(p.text);
}

TEST(test_bars)
{
    static const char *const names[] = {"learned", "none"};
    static const float values[] = {5, 2}, low[] = {4, 1}, high[] = {6, 2.5F}, others[] = {NAN, 10};
    const ferry_svg_bar bars[] = {{.name = "BLEU", .values = values, .low = low, .high = high},
                                  {.values = others, .color = 1}};
    ferry_svg_plot parts = plot;
    parts.up = (ferry_svg_axis){.names = names, .count = 2};
    picture p;
    begin(&p);
    ferry_svg_frame(p.out, &parts);
    ferry_svg_bars(p.out, &parts, bars, 2, "%.1f");
    end(&p);
    expect(&p, "y=\"49\" font-size=\"11\" text-anchor=\"end\" class=\"soft\">learned</text>");
    expect(&p, "x=\"100.00\" y=\"26.00\" width=\"50.00\" height=\"19.00\"");
    expect(&p, "x=\"100.00\" y=\"76.00\" width=\"20.00\" height=\"19.00\"");
    expect(&p, "x=\"100.00\" y=\"95.00\" width=\"100.00\" height=\"19.00\"");
    expect(&p, "d=\"M140.00 35.50H160.00M");
    expect(&p, "<text x=\"165\" y=\"39.5\" font-size=\"11\" class=\"soft\">5.0</text>");
    assert_int_equal(count(&p, "<rect"), 3);
    free(p.text);
}

/* Level 0 … 40; what is not a number has no cell; dark cells have light numbers. */
TEST(test_heat)
{
    static const float values[] = {0, 1, NAN, 2};
    const ferry_svg_colors colors = {FERRY_SVG_SEQUENTIAL, .low = 0, .high = 2};
    ferry_svg_plot bare = plot;
    bare.across.bare = bare.up.bare = true;
    picture p;
    begin(&p);
    ferry_svg_heat(p.out, &bare, values, 2, 2, &colors, "%.1f");
    ferry_svg_color_bar(p.out, 0, 200, 82, &colors, "R\u00b2");
    end(&p);
    expect(&p, "<path class=\"s0\" d=\"M0 0h1\"/>");
    expect(&p, "<path class=\"s20\" d=\"M1 0h1\"/>");
    expect(&p, "<path class=\"s40\" d=\"M1 1h1\"/>");
    expect(&p, "text-anchor=\"middle\">0.0</text>");
    expect(&p, "text-anchor=\"middle\" class=\"inverse\">2.0</text>");
    expect(&p, "<path class=\"s40\" d=\"M80 205h2\" stroke-width=\"10\"/>");
    expect(&p, ">R\u00b2</text>");
    assert_int_equal(count(&p, "nan"), 0);
    free(p.text);
}

/* Only the charts at the left and at the bottom have numbers; together they have the width of the grid. */
TEST(test_grid)
{
    const ferry_svg_grid grid = {.x = 10,
                                 .y = 30,
                                 .width = 400,
                                 .height = 80,
                                 .count = 5,
                                 .columns = 3,
                                 .across = {.last = 1},
                                 .up = {.last = 1}};
    for (int32_t i = 0; i < grid.count; i++) {
        const ferry_svg_plot one = ferry_svg_grid_plot(&grid, i);
        assert_int_equal(one.up.bare, i % 3 > 0);
        assert_int_equal(one.across.bare, i < 2);
        assert_true(one.y + one.height < ferry_svg_grid_bottom(&grid));
        if (i % 3 == 2) assert_true(fabs(one.x + one.width - 410) < 1e-9);
    }
}

TEST(test_text_and_legend)
{
    static const char *const names[] = {"sinusoidal", "learned", "none"};
    const ferry_text text = ferry_svg_literal("one two three");
    const double line = ferry_svg_text_width(FERRY_SVG_BODY, ferry_svg_literal("one two t"));
    picture p;
    begin(&p);
    const double below = ferry_svg_paragraph(p.out, 5, 20, line, FERRY_SVG_BODY, text);
    const double under = ferry_svg_legend(p.out, 0, 100, 200, names, 3);
    end(&p);
    assert_true(below > 20 + 2 * 13);
    assert_true(fabs(below - ferry_svg_paragraph(NULL, 5, 20, line, FERRY_SVG_BODY, text)) < 1e-9);
    expect(&p, ">one two</text>");
    expect(&p, ">three</text>");
    assert_true(under > 100 + 2 * 11); /* the third does not fit beside the others */
    assert_true(fabs(under - ferry_svg_legend(NULL, 0, 100, 200, names, 3)) < 1e-9);
    expect(&p, "class=\"c2\"");
    free(p.text);
}

/* What XML does not permit, or a reader does not see, is replaced. */
TEST(test_escapes)
{
    picture p;
    begin(&p);
    ferry_svg_escape(p.out,
                     ferry_svg_literal("<\x1B\n\x7F\xC2\x9B|\xE2\x80\xAE\xEF\xBF\xBE|\xFF\xE2\x80|&\"\xE2\x80\x8C>"));
    end(&p);
    assert_string_equal(p.text, "&lt;\uFFFD\uFFFD\uFFFD\uFFFD|\uFFFD\uFFFD|\uFFFD\uFFFD|&amp;&quot;\u200C&gt;");
    free(p.text);
}

/* A page has the style sheet once; a file of its own contains it. */
TEST(test_pages)
{
    picture file, page, style;
    begin(&file);
    begin(&page);
    begin(&style);
    ferry_svg_begin(file.out, 100, 50, "t");
    ferry_svg_end(file.out);
    ferry_svg_begin_embedded(page.out, 100, 50, "t");
    ferry_svg_end(page.out);
    ferry_svg_style(style.out);
    end(&file);
    end(&page);
    end(&style);
    expect(&file, style.text);
    expect(&file, "class=\"paper\"");
    assert_int_equal(count(&page, "style"), 0);
    assert_int_equal(count(&page, "paper"), 0);
    assert_string_equal(page.text,
                        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"ferry\" role=\"img\" width=\"100\" "
                        "height=\"50\" viewBox=\"0 0 100 50\">\n<title>t</title>\n</svg>\n");
    free(file.text);
    free(page.text);
    free(style.text);
}
