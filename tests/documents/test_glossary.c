/* Words of a document that have a translation of their own: whatever is not in the glossary is written in capitals. */
#include "document_support.h"

#include "documents/document_glossary.h"

enum { MOST_ENTRIES = 8 };

/* The entries, "source=target" or "source", separated by ";". */
static size_t read_entries(const char *text, ferry_document_term entries[MOST_ENTRIES])
{
    size_t count = 0;
    for (const char *end; *text != '\0'; text = *end == ';' ? end + 1 : end) {
        end = text + strcspn(text, ";");
        const char *equals = memchr(text, '=', (size_t)(end - text));
        const char *source_end = equals != NULL ? equals : end;
        assert_true(count < MOST_ENTRIES);
        entries[count] = (ferry_document_term){.source = {text, (size_t)(source_end - text)}};
        if (equals != NULL) entries[count].target = (ferry_text){equals + 1, (size_t)(end - equals - 1)};
        count++;
    }
    return count;
}

/* The options, with these entries. */
static ferry_document_options with_glossary(const char *glossary, ferry_document_term entries[MOST_ENTRIES])
{
    const size_t count = read_entries(glossary, entries);
    return (
        ferry_document_options){.size = sizeof(ferry_document_options), .glossary = entries, .glossary_count = count};
}

static void check(const char *glossary, const char *format, const char *source, const char *given, const char *expected)
{
    ferry_document_term entries[MOST_ENTRIES];
    const ferry_document_options options = with_glossary(glossary, entries);
    check_call(&options, format, source, given, expected);
}

/* Of plain text: glossary, source, expected. */
static void check_rows(const char *const rows[][3], size_t count)
{
    for (size_t i = 0; i < count; i++) check(rows[i][0], "text", rows[i][1], NULL, rows[i][2]);
}

static ferry_status refuse(const char *glossary, ferry_error *error)
{
    ferry_document_term entries[MOST_ENTRIES];
    const ferry_document_options options = with_glossary(glossary, entries);
    ferry_document_result *result;
    return call_documents(&options, "text", "a", NULL, &result, error);
}

TEST(test_whole_words)
{
    static const char *const rows[][3] = {
        {"tea=Tee", "a cup of greentea tea", "A CUP OF GREENTEA Tee"},
        {"tea=Tee", "teas, steamed; tea-time at tea's", "TEAS, STEAMED; TEA-TIME AT Tee'S"},
        {"tea=Tee;green tea=Sencha", "green tea, green teas, tea", "Sencha, GREEN TEAS, Tee"},
        {"green tea=Sencha;tea leaves=Tee", "green tea leaves", "Sencha LEAVES"},
        {"green  tea=Sencha", "a green tea", "A Sencha"},
        {"green tea=Sencha", "green, tea", "GREEN, TEA"},
        {"C++=C", "in C++ and C+", "IN C AND C+"},
        {".NET=Netz", "in .NET.", "IN Netz."},
        {"\xC3\xBC"
         "bel=bad",
         "\xC3\x9C"
         "bel",
         "bad"},
        {"tea=a long word", "tea", "a long word"},
    };
    check_rows(rows, sizeof rows / sizeof *rows);
}

/* A small letter of an entry stands for the capital, too, a capital for itself. */
TEST(test_capitals)
{
    static const char *const rows[][3] = {
        {"tea=Tee", "Tea is tea, not TEA", "Tee IS Tee, NOT TEE"},
        {"Tea=Tee", "Tea is tea, not TEA", "Tee IS TEA, NOT TEE"},
        {"IT=die EDV", "it is IT", "IT IS die EDV"},
        {"it=es;IT=EDV", "It is it in IT", "es IS es IN EDV"},
        {"tea=Tee", "THIS IS TEA", "THIS IS TEE"},
        {"tea;Ferry", "Tea on TEA, Ferry on ferry", "Tea ON TEA, Ferry ON FERRY"},
        {"i=ich", "I am", "ich AM"}, /* one capital is no word in capitals */
    };
    check_rows(rows, sizeof rows / sizeof *rows);
}

/* What is kept wins over an entry inside it, and has the entry's target if it is all of it. */
TEST(test_kept_pieces)
{
    check("tea=Tee", "text", "see tea.md and /usr/tea/green", NULL, "SEE tea.md AND /usr/tea/green");
    check("tea.md=Tee.md", "text", "see tea.md", NULL, "SEE Tee.md");
    check("tea.md", "text", "see tea.md", NULL, "SEE tea.md");
    check("tea=Tee", "markdown", "see `tea` and tea", NULL, "SEE `tea` AND Tee");
    check("1234=4321", "text", "within 1234 days", NULL, "WITHIN 4321 DAYS");
}

TEST(test_formats)
{
    static const char tea[] = "green tea=A & B";
    check(tea, "html", "<p>the <b>green tea</b> and\ngreen\n tea</p>", NULL,
          "<p>THE <b>A &amp; B</b> AND A &amp; B</p>");
    check(tea, "html", "<p>the green\r\ntea</p>", NULL, "<p>THE A &amp; B</p>"); /* CR LF ends no paragraph */
    check(tea, "html", "<p>green <b>tea</b> and green&#32;tea</p>", NULL, "<p>GREEN <b>TEA</b> AND A &amp; B</p>");
    check(tea, "html", "<td>green tea</td><img alt='green tea'>", NULL, "<td>A &amp; B</td><img alt='A &amp; B'>");
    check(tea, "markdown", "*ab* green\ntea ab", NULL, "*AB* A & B AB");
    check("tea=*T*", "markdown", "ab tea", NULL, "AB \\*T\\*");
    check("tea=a \"b\"", "json", "{\"a\": \"the tea\"}", NULL, "{\"a\": \"THE a \\\"b\\\"\"}");
    check("tea=%s", "json", "{\"a\": \"the tea\"}", NULL, "{\"a\": \"the tea\"}"); /* could be a placeholder */
    check("tea=1\n\n2\n00:01 --> 00:02", "srt", "1\n00:00 --> 00:01\nmy tea\n", NULL, "1\n00:00 --> 00:01\nmy tea\n");
    check("tea=a\nb", "text", "my tea", NULL, "MY a b");
}

TEST(test_wrong_entries)
{
    static const char *const rows[][2] = {
        {"tea=Tee;=x", "glossary: entry 2, '': expected a source, found none"},
        {" \t=x", "glossary: entry 1, ' \t': expected a source, found none"},
        {"a\xFF=x", "glossary: entry 1, 'a\xFF': expected UTF-8, found other bytes"},
        {"a=\xFF", "glossary: entry 1, 'a': expected UTF-8, found other bytes"},
        {"a=x;b=y;a=y", "glossary: expected one target of 'a', found two"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        REFUSE_SAYING(refuse(rows[i][0], &error), FERRY_ERROR_ARGUMENT, rows[i][1]);
    char large[FERRY_MOST_TERM + 2] = "";
    memset(large, 'a', FERRY_MOST_TERM + 1);
    REFUSE(refuse(large, &error), FERRY_ERROR_ARGUMENT, "expected a source of at most 256 bytes, found more");
    large[FERRY_MOST_TERM] = '\0';
    check(large, "text", large, NULL, large);
    check("a=x;b=y;a=x;A=z", "text", "a b A", NULL, "x y z");
}
