/* Glossaries (ferry_glossary): where their entries are found, and what translations have for them. */
#include "engine/lines/glossary.h"
#include "tests/support/files.h"
#include "tests/support/service_support.h"
#include "tests/support/shipped_model.h"

enum { MAX_ENTRIES = 8 };

/* "source=target|target", "source" alone; separated by ';'. */
static ferry_glossary *glossary_of(const char *given)
{
    ferry_glossary_entry entries[MAX_ENTRIES];
    ferry_text targets[MAX_ENTRIES][2];
    ferry_glossary *glossary;
    size_t count = 0;
    char *copy = ferry_text_copy(given), *rest = copy;
    for (char *entry; (entry = take_until(&rest, ';')) != NULL; count++) {
        char *part = entry;
        entries[count] = (ferry_glossary_entry){as_text(take_until(&part, '=')), targets[count], 0};
        while (part != NULL) targets[count][entries[count].target_count++] = as_text(take_until(&part, '|'));
    }
    CHECK(ferry_glossary_create(entries, sizeof *entries, count, &glossary, &error));
    free(copy);
    return glossary;
}

/* ---- the finder ---- */

typedef struct found_row {
    const char *entries, *marked; /* what is found stands in [ ], what the caller has taken in < > */
} found_row;

static const found_row found_rows[] = {
    {"dog", "The [dog] and the [Dog], [DOG]! dogs, hotdog, dog-house, a top-dog; [dog]'s"},
    {"Dog", "dog [Dog] [DOG] doG"},
    {"dog;Dog=x;dog house", "[dog house] [dog] housed [Dog  house]"},
    {"dog house", "[dog \t\n house] [Dog\xC2\xA0House] dog-house"},
    {" dog  house ", "[dog house]"},
    {"a b;b c d;d", "[a b] c [d] [b c d]"},
    {"b c", "a <b> c, b <c>, [b c]<,> [b c]"},
    {"b;b c", "[b] <c> <b c> [b c]"},
    {"St. Mary;Yahoo! Inc", "[St. Mary] of [Yahoo! Inc], St. [St. Mary]"},
    {"cafe", "[cafe] cafe\xCC\x81 caf\xC3\xA9"},
    {"caf\xC3\xA9", "[caf\xC3\xA9] [CAF\xC3\x89] cafe\xCC\x81"},
    {"i", "[I] [\xC4\xB0] \xC4\xB1"},                 /* the capital with a dot has one small letter, the simple one */
    {"\xC4\xB0zmir", "[\xC4\xB0zmir] izmir"},         /* whose small letter has fewer bytes */
    {"\xE2\xB1\xA5x", "[\xC8\xBAX] [\xE2\xB1\xA5x]"}, /* the small letter has more bytes */
    {"\xCF\x83", "[\xCE\xA3] [\xCF\x83] \xCF\x82"},
    {"\xE7\x8A\xAC", "\xE3\x81\x93\xE3\x81\xAE[\xE7\x8A\xAC]\xE3\x81\xAF"}, /* no words: anywhere */
    {"\xD7\x9B\xD7\x9C\xD7\x91", "\xD7\x94\xD7\x9B\xD7\x9C\xD7\x91 [\xD7\x9B\xD7\x9C\xD7\x91]"},
    {"dog", "\xFF[dog]\xE2\x82 \xC3[dog]\x80\x80[dog]"},
    {"\xEF\xBF\xBD x", "[\xFF x]"}, /* as which it is read */
    {"C++;C;.NET", "[C++] [C] [.NET] c+"},
    {"-x", "a-x [-x]"},
    {"a", ""},
    {"x;a b c d", "[x] a b [x] a b c [x] [a b c d]"},
};

/* Takes the brackets from the text. Returns it, and the spans within '[' ']' and '<' '>'. */
static size_t unmark(const char *marked, char *text, ferry_term *spans, size_t *count, const char *marks)
{
    size_t size = 0;
    *count = 0;
    for (const char *c = marked; *c != '\0'; c++) {
        if (*c == marks[0]) spans[*count] = (ferry_term){.begin = size};
        if (*c == marks[1]) spans[(*count)++].end = size;
        if (strchr("[]<>", *c) == NULL) text[size++] = *c;
    }
    return size;
}

/* Searches the text in portions of this size. */
static void check_found(size_t row, const char *marked, size_t portion, const ferry_glossary *glossary)
{
    char text[256];
    ferry_term wanted[16], taken[16];
    size_t wanted_count, taken_count, count = 0;
    ferry_glossary_match found;
    const size_t size = unmark(marked, text, wanted, &wanted_count, "[]");
    unmark(marked, text, taken, &taken_count, "<>");
    for (size_t at = 0; at < size;) {
        const size_t until = portion < size - at ? at + portion : size;
        const ferry_terms terms = {taken, sizeof *taken, taken_count};
        while (ferry_glossary_next(glossary, terms, (ferry_view){text, size}, &at, until, &found)) {
            if (count == wanted_count || found.begin != wanted[count].begin || found.end != wanted[count].end)
                fail_msg("row %zu, '%s': found %zu to %zu", row, marked, found.begin, found.end);
            count++;
        }
    }
    if (count < wanted_count) fail_msg("row %zu, '%s': found %zu", row, marked, count);
}

TEST(test_what_is_found)
{
    for (size_t i = 0; i < COUNT(found_rows); i++) {
        ferry_glossary *glossary = glossary_of(found_rows[i].entries);
        check_found(i, found_rows[i].marked, SIZE_MAX, glossary);
        check_found(i, found_rows[i].marked, 1, glossary);
        ferry_glossary_destroy(glossary);
    }
}

/* The longest source has 256 bytes; of 100,000 entries each is found. */
TEST(test_large_glossaries)
{
    enum { MANY = 100000 };
    static char sources[MANY][16];
    ferry_glossary_entry *entries = calloc(MANY + 1, sizeof *entries);
    ferry_glossary *glossary;
    ferry_glossary_match found;
    char *longest = kept_memory(4 * 256);
    for (size_t i = 0; i < MANY; i++) {
        sprintf(sources[i], "word%zu", i);
        entries[i].source = as_text(sources[i]);
    }
    memset(longest, 'a', 256);
    for (size_t i = 1; i < 256; i += 2) longest[i] = ' ';
    longest[255] = 'a';
    entries[MANY].source = as_text(longest);
    CHECK(ferry_glossary_create(entries, sizeof *entries, MANY + 1, &glossary, &error));
    for (size_t i = 0; i <= MANY; i++) {
        size_t at = 0;
        const ferry_view text = {entries[i].source.data, entries[i].source.size};
        assert_true(ferry_glossary_next(glossary, (ferry_terms){0}, text, &at, text.size, &found));
        assert_int_equal(found.end, text.size);
    }
    ferry_glossary_destroy(glossary);
    free(entries);
}

/* Time is linear in the size of the text; where it is quadratic, this takes hours. */
TEST(test_long_texts)
{
    enum { SIZE = 1 << 20, PORTION = 64 };
    char *text = kept_memory(SIZE);
    ferry_glossary *glossary = glossary_of("a b;a a a a a a a a c");
    for (int kind = 0; kind < 4; kind++) {
        ferry_glossary_match found;
        memset(text, " a.\x80"[kind], SIZE);
        for (size_t i = 0; kind == 1 && i < SIZE; i += 2) text[i] = ' ';
        for (size_t at = 0; at < SIZE;)
            assert_false(ferry_glossary_next(glossary, (ferry_terms){0}, (ferry_view){text, SIZE}, &at,
                                             at + PORTION < SIZE ? at + PORTION : SIZE, &found));
    }
    ferry_glossary_destroy(glossary);
}

/* ---- arguments ---- */

TEST(test_entries_that_are_refused)
{
    static const ferry_text target = {"x", 1}, other = {"y", 1}, blank = {" ", 1}, none = {NULL, 2}, bad = {"\xFF", 1};
    const char *const long_source = memset(kept_memory(258), 'a', 257);
    const struct {
        ferry_glossary_entry entry;
        const char *message;
    } rows[] = {
        {{none, &target, 1}, "entries: expected a text at entries[1].source, found NULL"},
        {{{NULL, 0}, &target, 1}, "entries: expected a text at entries[1].source, found a blank one"},
        {{blank, &target, 1}, "entries: expected a text at entries[1].source, found a blank one"},
        {{bad, &target, 1}, "entries: expected a text at entries[1].source, found ill-formed UTF-8"},
        {{as_text(long_source), NULL, 0}, "entries: expected at most 256 bytes at entries[1].source, found 257"},
        {{target, NULL, 1}, "entries: expected targets at entries[1], found NULL"},
        {{target, &none, 1}, "entries: expected a text at entries[1].targets[0], found NULL"},
        {{target, &blank, 1}, "entries: expected a text at entries[1].targets[0], found a blank one"},
        {{target, &bad, 1}, "entries: expected a text at entries[1].targets[0], found ill-formed UTF-8"},
        {{{"  b\t c ", 7}, &target, 1}, "entries: expected one entry with source 'b c', found two"},
        {{{"b c", 3}, NULL, 0}, "entries: expected one entry with source 'b c', found two"},
    };
    ferry_glossary *glossary;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const ferry_glossary_entry entries[] = {{{"b c", 3}, &other, 1}, rows[i].entry};
        glossary = (void *)&glossary;
        REFUSE_SAYING(ferry_glossary_create(entries, sizeof *entries, 2, &glossary, &error), FERRY_ERROR_ARGUMENT,
                      rows[i].message);
        assert_null(glossary);
    }
    const ferry_glossary_entry twice[] = {{{"b c", 3}, &other, 1}, {{"b  c", 4}, &other, 1}, {{"B c", 3}, &target, 1}};
    CHECK(ferry_glossary_create(twice, sizeof *twice, COUNT(twice), &glossary, &error));
    ferry_glossary_destroy(glossary);
    CHECK(ferry_glossary_create(NULL, sizeof *twice, 0, &glossary, &error));
    ferry_glossary_destroy(glossary);
}

SHIPPED_TEST(test_options_that_exclude_a_glossary)
{
    ferry_glossary *glossary = glossary_of("dog=Hund");
    ferry_translator *translator;
    for (int i = 0; i < 3; i++) {
        static const char *const names[] = {"sample", "alternatives", "nbest"};
        ferry_options options = default_options(model);
        ferry_error error;
        options.glossary = glossary;
        options.beam = i == 2 ? 4 : 1;
        options.sample = i == 0;
        options.alternatives = i == 1;
        options.nbest = i == 2 ? 2 : 1;
        assert_int_equal(ferry_translator_create(model, &options, &translator, &error), FERRY_ERROR_ARGUMENT);
        assert_string_equal(error.argument, names[i]);
        assert_non_null(strstr(error.message, "with a glossary"));
    }
    ferry_glossary_destroy(glossary);
}

/* ---- translations ---- */

static ferry_translator *translator_with(ferry_glossary *glossary, int32_t beam, int32_t threads)
{
    ferry_options options = default_options(model);
    options.glossary = glossary;
    options.beam = beam;
    options.threads = threads;
    if (threads > 1) options.batch = 2;
    return new_translator(model, &options);
}

static const char entries[] =
    "landlord=Vermieter|Vermieters;garden=Park;Ferry;yesterday=neulich;St. Mary=Maria;the=egal";

/* Lines, and how they begin, or what they have. */
static const struct {
    const char *line, *has;
} lines[] = {
    {"Good evening!", "Guten Abend!"}, /* it has none */
    {"My landlord will come tomorrow.", "Vermieter"},
    {"My dog likes my garden.", "Park"},
    {"\xFF\xE2\x82My dog likes my garden.", "Park"},
    {"Ferry is a program.", "Ferry"},
    {"MY LANDLORD IS COMING.", "VERMIETER"},
    {"Landlord!", "Vermieter"},
    {"Ferry", "Ferry"},
    {"Yesterday I saw my dog.", "Neulich "},
    {"yesterday", "neulich"},
    {"", ""},
};

static void make_lines(ferry_text texts[COUNT(lines)])
{
    for (size_t i = 0; i < COUNT(lines); i++) texts[i] = as_text(lines[i].line);
}

/* Also after the caller has destroyed the glossary; alone, in a batch, with threads. */
SHIPPED_TEST(test_lines_with_entries)
{
    ferry_text texts[COUNT(lines)];
    make_lines(texts);
    for (int32_t beam = 1; beam <= 4; beam += 3) {
        ferry_glossary *glossary = glossary_of(entries);
        ferry_translator *one = translator_with(glossary, beam, 1), *many = translator_with(glossary, beam, 3);
        ferry_result *whole, *result;
        ferry_glossary_destroy(glossary);
        CHECK(ferry_translate(many, texts, COUNT(lines), &whole, &error));
        for (size_t i = 0; i < COUNT(lines); i++) {
            const char *const text = ferry_result_text(whole, i, 0).data;
            if (strstr(text, lines[i].has) == NULL) fail_msg("'%s': '%s'", lines[i].line, text);
            assert_int_equal(ferry_result_outcome(whole, i)->quality & FERRY_QUALITY_TERM, 0);
            CHECK(ferry_translate(one, &texts[i], 1, &result, &error));
            assert_same_line(whole, i, result, 0);
            ferry_result_destroy(result);
        }
        ferry_result_destroy(whole);
        ferry_translator_destroy(many);
        ferry_translator_destroy(one);
    }
}

/* Entries are terms: what they give is what terms give at the same places; those of the caller win. */
SHIPPED_TEST(test_entries_are_terms)
{
    const ferry_text line = as_text("My landlord has a dog."), vermieter = as_text("Vermieter"), mann = as_text("Mann");
    ferry_glossary *glossary = glossary_of("landlord=Vermieter;landlord has=egal;dog=Hund");
    ferry_translator *with = translator_with(glossary, 4, 1), *without = translator_with(NULL, 4, 1);
    ferry_term terms[] = {{.begin = 3, .end = 11, .targets = &vermieter, .target_count = 1},
                          {.begin = 12, .end = 15, .targets = &mann, .target_count = 1}};
    ferry_request request = {.size = sizeof request, .terms = terms, .term_size = sizeof *terms, .term_count = 1};
    ferry_result *a, *b;
    CHECK(ferry_translate_with(without, &line, 1, &request, &a, &error));
    request.terms = &terms[1]; /* overlaps the longer entry */
    terms[1].targets = &mann;
    CHECK(ferry_translate_with(with, &line, 1, &request, &b, &error));
    assert_non_null(strstr(ferry_result_text(b, 0, 0).data, "Vermieter"));
    assert_non_null(strstr(ferry_result_text(b, 0, 0).data, "Mann"));
    ferry_result_destroy(b);
    request.terms = terms;
    terms[0].targets = &mann;
    CHECK(ferry_translate_with(with, &line, 1, &request, &b, &error));
    assert_null(strstr(ferry_result_text(b, 0, 0).data, "Vermieter"));
    assert_non_null(strstr(ferry_result_text(b, 0, 0).data, "Mann"));
    ferry_result_destroy(b);
    ferry_translator_destroy(with);
    ferry_glossary_destroy(glossary);
    glossary = glossary_of("{x}");
    with = translator_with(glossary, 4, 1);
    const ferry_text opaque = as_text("I like {x} and {y}, and {x}.");
    terms[0] = (ferry_term){.begin = 15, .end = 18};
    CHECK(ferry_translate_with(with, &opaque, 1, &request, &b, &error));
    const char *const first = strstr(ferry_result_text(b, 0, 0).data, "{x}");
    assert_non_null(first);
    assert_non_null(strstr(first + 1, "{x}"));
    assert_non_null(strstr(first, "{y}"));
    assert_int_equal(ferry_result_outcome(b, 0)->quality & FERRY_QUALITY_TERM, 0);
    ferry_result_destroy(b);
    ferry_translator_destroy(with);
    ferry_glossary_destroy(glossary);
    glossary = glossary_of("landlord=Vermieter;dog=Hund");
    with = translator_with(glossary, 4, 1);
    CHECK(ferry_translate(with, &line, 1, &b, &error));
    assert_same_line(a, 0, b, 0);
    ferry_result_destroy(a);
    ferry_result_destroy(b);
    ferry_translator_destroy(with);
    ferry_translator_destroy(without);
    ferry_glossary_destroy(glossary);
}

/* Scores, and lines without an entry, are those of a translator without a glossary. */
SHIPPED_TEST(test_what_a_glossary_does_not_change)
{
    const ferry_text texts[] = {as_text("My landlord sleeps."), as_text("He sleeps. He is tired.")},
                     targets[] = {as_text("Er."), as_text("Ja.")};
    ferry_glossary *glossary = glossary_of("landlord=Vermieter");
    ferry_translator *with = translator_with(glossary, 4, 1), *without = translator_with(NULL, 4, 1);
    ferry_result *a, *b;
    CHECK(ferry_score(with, texts, targets, 2, &a, &error));
    CHECK(ferry_score(without, texts, targets, 2, &b, &error));
    for (size_t i = 0; i < 2; i++) assert_same_line(a, i, b, i);
    ferry_result_destroy(a);
    ferry_result_destroy(b);
    CHECK(ferry_translate(with, &texts[1], 1, &a, &error));
    CHECK(ferry_translate(without, &texts[1], 1, &b, &error));
    assert_same_line(a, 0, b, 0);
    ferry_result_destroy(a);
    ferry_result_destroy(b);
    ferry_translator_destroy(with);
    ferry_translator_destroy(without);
    ferry_glossary_destroy(glossary);
}

/* No sentence ends within an entry, but lines do; a service gives the same result. */
SHIPPED_TEST(test_entries_of_a_text)
{
    static const struct {
        const char *text;
        size_t sentences;
    } rows[] = {
        {"He saw Yahoo! Inc is here. My landlord sleeps.", 2},
        {"He came from Yahoo! Inc is here. My landlord sleeps.", 3}, /* the first entry wins */
        {"He came from Yahoo!\nInc is here. My landlord sleeps.", 3},
        {"He came from Yahoo! And Inc is here.", 2},
        {"We saw Yahoo! Inc. \xFF He left. Yahoo!  Inc. It is late! Yahoo! Yahoo! Inc.", 5},
        {"Up to Yahoo! Inc", 1},
        {"Yahoo! Inc", 1},
    };
    ferry_glossary *glossary = glossary_of("Yahoo! Inc;landlord=Vermieter;from Yahoo!;Inc is=x");
    ferry_translator *translator = translator_with(glossary, 1, 1);
    sent *texts = new_texts(COUNT(rows));
    ferry_service *service = new_service(translator_with(glossary, 1, 2), NULL);
    for (size_t i = 0; i < COUNT(rows); i++) {
        texts[i].given.text = as_text(rows[i].text);
        CHECK(submit(service, &texts[i], &error));
    }
    end_service(service, COUNT(rows));
    for (size_t i = 0; i < COUNT(rows); i++) {
        ferry_result *result;
        CHECK(ferry_translate_text(translator, as_text(rows[i].text), &result, &error));
        if (ferry_result_sentence_count(result) != rows[i].sentences)
            fail_msg("'%s': %zu sentences", rows[i].text, ferry_result_sentence_count(result));
        assert_true(is_same_result(texts[i].result, result));
        ferry_result_destroy(result);
    }
    free_results(texts, COUNT(rows));
    ferry_translator_destroy(translator);
    ferry_glossary_destroy(glossary);
}
