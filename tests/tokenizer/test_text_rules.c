/* Steps that a model file may not have, segmentations worked out by hand, and what is not compared with the package
 * `tokenizers`: ill-formed text. tests/families/test_tokenizer_json.c has the rest. */
#include "tests/support/files.h"

#include <math.h>

#include "tokenizer/pieces.h"
#include "tokenizer/text_rules.h"
#include "tokenizer/tokenizer_config.h"

static const ferry_view pieces[] = {{"<unk>", 5}, {"a", 1},    {"b", 1},  {"ab", 2}, {"<m>", 3},
                                    {"<r>", 3},   {"<r>>", 4}, {"nb", 2}, {"", 0}};
static const int32_t added_ids[] = {4, 5, 6, 7, 8, 0},
                     added_flags[] = {FERRY_ADDED_LSTRIP, FERRY_ADDED_RSTRIP, 0, FERRY_ADDED_NORMALIZED, 0, 0};

enum { MOST_STEPS = 20 };

/* `steps` end with NULL. */
static ferry_text_rules_config config_of(const char *const *steps)
{
    ferry_view views[MOST_STEPS];
    size_t count = 0;
    for (; count < MOST_STEPS && steps[count] != NULL; count++) views[count] = ferry_text_view(steps[count]);
    return (ferry_text_rules_config){.steps = kept_texts(views, count),
                                     .step_count = count,
                                     .added_ids = added_ids,
                                     .added_flags = added_flags,
                                     .added_count = COUNT(added_ids),
                                     .pieces = KEPT_TEXTS(pieces),
                                     .piece_count = COUNT(pieces)};
}

static ferry_text_rules *create(const char *const *steps)
{
    const ferry_text_rules_config config = config_of(steps);
    ferry_text_rules *rules;
    CHECK(ferry_text_rules_create(&config, &rules, &error));
    return rules;
}

/* Of `size` bytes, kept. */
static char *filled(char c, size_t size)
{
    return memset(kept_memory(size + 1), c, size);
}

/* ---- what is refused ---- */

static void refuse(const char *const *steps, ferry_status status, const char *what)
{
    const ferry_text_rules_config config = config_of(steps);
    ferry_text_rules *rules;
    REFUSE(ferry_text_rules_create(&config, &rules, &error), status, what);
    assert_true((rules == NULL) == (what != NULL));
    ferry_text_rules_destroy(rules);
}

TEST(test_bad_steps)
{
    static const struct {
        const char *steps[4];
        ferry_status status;
        const char *what;
    } rows[] = {
        {{"lowercase"}, FERRY_ERROR_UNSUPPORTED, "tokenizer's step 'lowercase' is not supported by this build"},
        {{"replace", "a"}, FERRY_ERROR_FORMAT, "tokenizer's step 'replace': expected 2 arguments, found 1"},
        {{"replace", "", "a"}, FERRY_ERROR_FORMAT, "step 'replace': argument 1: expected a text, found ''"},
        {{"replace-blanks", "0", "a"}, FERRY_ERROR_FORMAT, "-blanks': argument 1: expected 1 to 9, found '0'"},
        {{"replace-space", ":", "a"}, FERRY_ERROR_FORMAT, "-space': argument 1: expected 1 to 9, found ':'"},
        {{"replace-space", "10", "a"}, FERRY_ERROR_FORMAT, "-space': argument 1: expected 1 to 9, found '10'"},
        {{"metaspace", "often"}, FERRY_ERROR_FORMAT, "argument 1: expected always, first or never, found 'often'"},
        {{"prepend", "\xFF"}, FERRY_ERROR_FORMAT, "argument 1: expected at most 512 bytes of UTF-8, found '\\xff'"},
        {{"split-space", "strip-left"},
         FERRY_ERROR_FORMAT,
         "tokenizer's step 'strip-left': expected before the steps that make words, found behind one"},
        {{"precompiled"}, FERRY_ERROR_FORMAT, "tokenizer's step 'precompiled': the table of rules is missing"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) refuse(rows[i].steps, rows[i].status, rows[i].what);
}

/* The largest that is allowed, and the next. */
TEST(test_bounds)
{
    for (size_t over = 0; over < 2; over++) {
        const char *many[MOST_STEPS] = {NULL}, *arguments[] = {"replace", "q", filled('x', 512 + over), NULL};
        for (size_t i = 0; i < FERRY_RULES_MAX_STEPS + over; i++) many[i] = "strip-left";
        refuse(many, FERRY_ERROR_UNSUPPORTED, over > 0 ? "tokenizer: expected at most 16 steps, found more" : NULL);
        refuse(arguments, FERRY_ERROR_FORMAT, over > 0 ? "argument 2: expected at most 512 bytes of UTF-8" : NULL);
    }
    static const char outside[] = "added token 0: expected an id below 1 and flags to 7";
    const char *const tens[] = {"replace", "b", filled('x', 10), NULL}, *const none[] = {"replace", "b", "", NULL};
    const struct {
        int32_t id, flags;
        const char *const *steps, *token;
        ferry_status status;
        const char *what;
    } rows[] = {
        {0, 7, tens, "token", FERRY_OK, NULL},
        {0, 8, tens, "token", FERRY_ERROR_FORMAT, outside},
        {0, -1, tens, "token", FERRY_ERROR_FORMAT, outside},
        {1, 0, tens, "token", FERRY_ERROR_FORMAT, outside},
        {-1, 0, tens, "token", FERRY_ERROR_FORMAT, outside},
        {0, 0, tens, filled('a', 512), FERRY_OK, NULL},
        {0, 0, tens, filled('a', 513), FERRY_ERROR_UNSUPPORTED, "expected at most 512 bytes of UTF-8"},
        {0, 0, tens, "\xFF", FERRY_ERROR_UNSUPPORTED, "added token '\\xff': expected at most 512 bytes of UTF-8"},
        {0, 0, none, "bb", FERRY_OK, NULL},
        {0, 4, none, "bb", FERRY_ERROR_UNSUPPORTED, "token 'bb': expected 1 to 512 bytes after normalization, found 0"},
        {0, 4, tens, filled('b', 51), FERRY_OK, NULL},
        {0, 4, tens, filled('b', 52), FERRY_ERROR_UNSUPPORTED, "to 512 bytes after normalization, found 520"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const ferry_view token = ferry_text_view(rows[i].token);
        ferry_text_rules *rules;
        ferry_text_rules_config config = config_of(rows[i].steps);
        config.pieces = kept_texts(&token, 1);
        config.piece_count = 1;
        config.added_count = 1;
        config.added_ids = &rows[i].id;
        config.added_flags = &rows[i].flags;
        REFUSE(ferry_text_rules_create(&config, &rules, &error), rows[i].status, rows[i].what);
        ferry_text_rules_destroy(rules);
    }
}

/* ---- words ---- */

typedef struct words {
    char text[200]; /* "WORD@BEGIN-END " or "#ID@BEGIN-END " */
} words;

static ferry_status note_word(void *user, const ferry_rule_word *word)
{
    words *all = user;
    const size_t used = strlen(all->text);
    char shown[64];
    snprintf(shown, sizeof shown, word->id >= 0 ? "#%d" : "%.*s", word->id >= 0 ? (int)word->id : (int)word->text.size,
             word->text.data);
    snprintf(all->text + used, sizeof all->text - used, "%s@%u-%u ", shown, word->from[0], word->from[word->text.size]);
    return FERRY_OK;
}

TEST(test_words)
{
    static const struct {
        const char *steps[9], *text, *expected;
    } rows[] = {
        {{NULL}, "", ""},
        {{"replace", "b", "cc", "metaspace", "always", "split-metaspace"}, "", ""},
        {{"replace", "b", "cc", "metaspace", "always", "split-metaspace"},
         "ab  a",
         "\u2581acc@0-2 \u2581@2-3 \u2581a@3-5 "},
        {{"replace", "b", "cc", "metaspace", "always", "split-metaspace"},
         "a  <m>b",
         "\u2581a@0-1 #4@1-6 \u2581cc@6-7 "},
        {{"metaspace", "always"}, "a\xFF\xE2\x82", "\u2581a\uFFFD\uFFFD\uFFFD@0-4 "},
        /* added tokens: first, in the middle, last; the longest; the white space that they take */
        {{NULL}, "<m>a<r>b<r>>", "#4@0-3 a@3-4 #5@4-7 b@7-8 #6@8-12 "},
        {{NULL}, "<m><m><r", "#4@0-3 #4@3-6 <r@6-8 "},
        {{NULL}, "  <m><r>>  <r>  ", "#4@0-5 #6@5-9   @9-11 #5@11-16 "},
        {{NULL}, "<r>  <m> a", "#5@0-5 #4@5-8  a@8-10 "},
        {{NULL}, "a \u3000<m>", "a@0-1 #4@1-8 "},
        {{NULL}, "<unk>a<unk>", "#0@0-5 a@5-6 #0@6-11 "},
        {{NULL}, "<r>\u00A0\ta", "#5@0-6 a@6-7 "},
        {{NULL}, " <r>", " @0-1 #5@1-4 "},
        {{"replace", "b", "cc"}, "nb anccb", "#7@0-2  a@2-4 #7@4-7 cc@7-8 "},
        /* replacing: at either end, next to each other, overlapping, by nothing */
        {{"replace", "ab", "x"}, "ababcabca", "xxcxca@0-9 "},
        {{"replace", "aa", "b"}, "aaaca", "baca@0-5 "},
        {{"replace", "a", ""}, "abaa", "b@1-4 "},
        {{"replace", "a", ""}, "aa", ""},
        {{"replace", "ab", "x"}, "a", "a@0-1 "},
        {{"prepend", "x", "replace", "xa", "y"}, "aa", "ya@0-2 "},
        /* runs of at least so many, at either end; blanks are not all white space */
        {{"replace-blanks", "2", "x"}, "  a b   c\t\td  ", "xa bxc\t\tdx@0-14 "},
        {{"replace-space", "2", "x"}, "\t a\u3000b\u00A0\n\r", "xa\u3000bx@0-11 "},
        {{"replace-space", "1", ""}, " a\tb ", "ab@1-5 "},
        {{"replace-blanks", "9", "x"}, "a        b         c          ", "a        bxcx@0-30 "},
        {{"strip-left"}, " \u3000a b ", "a b @4-8 "},
        {{"strip-right"}, " a b\u3000 ", " a b@0-8 "},
        {{"strip-left"}, "  ", ""},
        {{"strip-right"}, "  ", ""},
        {{"strip-right"}, "a", "a@0-1 "},
        /* words */
        {{"split-space"}, " a\u00A0 b\t", "a@1-2 b@5-6 "},
        {{"split-space", "metaspace", "first"}, "a b", "\u2581a@0-1 b@2-3 "},
        {{"metaspace", "first"}, "a<m>b", "\u2581a@0-1 #4@1-4 b@4-5 "},
        {{"metaspace", "first"}, "<m>b", "#4@0-3 b@3-4 "},
        {{"metaspace", "always"}, "a<m>b", "\u2581a@0-1 #4@1-4 \u2581b@4-5 "},
        {{"metaspace", "always"}, " a", "\u2581a@0-2 "},
        {{"metaspace", "always"}, "\u2581a", "\u2581a@0-4 "},
        {{"metaspace", "always"}, " ", "\u2581@0-1 "},
        {{"metaspace", "never"}, "a  b ", "a\u2581\u2581b\u2581@0-5 "},
        {{"metaspace", "never", "split-metaspace"}, "a b ", "a@0-1 \u2581b@1-3 \u2581@3-4 "},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        ferry_text_rules *rules = create(rows[i].steps);
        words found = {""};
        CHECK(ferry_text_rules_apply(rules, ferry_text_view(rows[i].text), note_word, &found, &error));
        assert_string_equal(found.text, rows[i].expected);
        ferry_text_rules_destroy(rules);
    }
}

static ferry_status stop_at_b(void *user, const ferry_rule_word *word)
{
    (void)note_word(user, word);
    return word->text.data[0] == 'b' ? FERRY_ERROR_CANCELLED : FERRY_OK;
}

/* A sink that ends a text does not end the next. */
TEST(test_stopped)
{
    ferry_text_rules *rules = create((const char *const[]){"split-space", NULL});
    words found = {""};
    assert_int_equal(ferry_text_rules_apply(rules, ferry_text_view("a b c"), stop_at_b, &found, NULL),
                     FERRY_ERROR_CANCELLED);
    assert_int_equal(ferry_text_rules_apply(rules, ferry_text_view("d c"), stop_at_b, &found, NULL), FERRY_OK);
    assert_string_equal(found.text, "a@0-1 b@2-3 d@0-1 c@2-3 ");
    ferry_text_rules_destroy(rules);
}

/* Steps that make more of each other's text cannot fill the memory: up to 16 times the text and 2^16 bytes. */
TEST(test_growth)
{
    static const struct {
        size_t count, each; /* so many characters become so many bytes each */
        const char *what;   /* NULL: allowed */
    } rows[] = {{256, 272, NULL}, {256, 273, " 69632 bytes after normalization"}, {3000, 256, " 113536 bytes"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        ferry_text_rules *rules = create((const char *const[]){"replace", "b", filled('c', rows[i].each), NULL});
        const ferry_view text = {filled('b', rows[i].count), rows[i].count};
        ferry_string normal = {0};
        REFUSE(ferry_text_rules_normalize(rules, text, &normal, &error), FERRY_ERROR_LIMIT, rows[i].what);
        assert_int_equal(normal.size, rows[i].what == NULL ? rows[i].count * rows[i].each : 0);
        free(normal.data);
        ferry_text_rules_destroy(rules);
    }
    ferry_text_rules *rules = create((const char *const[]){NULL});
    REFUSE_SAYING(ferry_text_rules_apply(rules, (ferry_view){"", (1 << 26) + 1}, note_word, NULL, &error),
                  FERRY_ERROR_LIMIT, "text: expected at most 67108864 bytes, found 67108865");
    ferry_text_rules_destroy(rules);
}

/* ---- pieces ---- */

static ferry_status note_piece(void *user, size_t begin, size_t end, int32_t id)
{
    words *all = user;
    const size_t used = strlen(all->text);
    snprintf(all->text + used, sizeof all->text - used, "%d@%zu-%zu ", (int)id, begin, end);
    return FERRY_OK;
}

static void check_pieces(const ferry_unigram_config *config, const char *word, const char *expected)
{
    ferry_unigram unigram;
    ferry_unigram_scratch scratch = {NULL, 0};
    words found = {""};
    CHECK(ferry_unigram_create(config, &unigram, &error));
    CHECK(ferry_unigram_segment(&unigram, ferry_text_view(word), &scratch, note_piece, &found, &error));
    assert_string_equal(found.text, expected);
    ferry_unigram_destroy(&unigram);
    free(scratch.nodes);
}

TEST(test_best_pieces)
{
    /* -3 against -1 - 1 = -2, against -1 - 2 = -3: the one that ends in the piece that was found first stays. */
    static const double apart[] = {0, -1, -1, -3, NAN}, equal[] = {0, -1, -2, -3, NAN},
                        whole[] = {0, -1, -2, -2.5, NAN}, rare[] = {0, -5, NAN, -20, -1}, same[7] = {0};
    /* Bytes of what is unknown, if all of them have pieces; not of the unknown piece's own text. */
    static const ferry_view bytes[] = {{"<0x6E>", 6}, {"<0x3C>", 6}, {"<0x75>", 6}, {"a", 1},
                                       {"<0x6B>", 6}, {"<0x3E>", 6}, {"<unk>", 5}};
    /* A character whose only pieces are longer may be unknown; of equal pieces, the last. */
    static const ferry_view longer[] = {{"<unk>", 5}, {"ab", 2}, {"bx", 2}, {"c", 1}, {"c", 1}};
    static const double late[] = {0, -1, -0.5, -1, -1};
    const ferry_texts *five = KEPT_TEXTS(pieces), *known = KEPT_TEXTS(bytes), *pairs = KEPT_TEXTS(longer);
    const struct {
        ferry_unigram_config config;
        const char *word, *expected;
    } rows[] = {
        {{five, apart, 5, 0, false}, "ab", "1@0-1 2@1-2 "},
        {{five, equal, 5, 0, false}, "ab", "3@0-2 "},
        {{five, whole, 5, 0, false}, "aab", "1@0-1 3@1-3 "},
        {{five, whole, 5, 0, false}, "xya<m>", "0@0-2 1@2-3 0@3-6 "},
        {{five, whole, 5, 0, false}, "xyzab", "0@0-3 3@3-5 "},
        {{five, whole, 5, 0, false}, "ba\u00E9\u6F22", "2@0-1 1@1-2 0@2-7 "},
        {{five, whole, 5, 0, false}, "", ""},
        {{five, rare, 5, 0, false}, "ab", "3@0-2 "}, /* -20, against -5 and ten less than the least score */
        {{known, same, 7, 6, true}, "nuak", "0@0-1 2@1-2 3@2-3 4@3-4 "},
        {{known, same, 7, 6, true}, "nxau", "6@0-2 3@2-3 2@3-4 "},
        {{known, same, 7, 6, true}, "a<unk>", "3@0-1 6@1-6 "},
        {{known, same, 7, 6, false}, "nuak", "6@0-2 3@2-3 6@3-4 "},
        {{pairs, late, 5, 0, false}, "abxc", "0@0-1 2@1-3 4@3-4 "},
    };
    for (size_t i = 0; i < COUNT(rows); i++) check_pieces(&rows[i].config, rows[i].word, rows[i].expected);
}

TEST(test_long_piece)
{
    const ferry_view known[] = {{filled('a', 513), 512}, {"<unk>", 5}, {filled('a', 513), 513}};
    ferry_unigram_config config = {KEPT_TEXTS(known), (const double[]){0, 0, 0}, 2, 1, false};
    check_pieces(&config, filled('a', 512), "0@0-512 ");
    config.count = 3;
    ferry_unigram unigram;
    REFUSE_SAYING(ferry_unigram_create(&config, &unigram, &error), FERRY_ERROR_UNSUPPORTED,
                  "piece 2: expected at most 512 bytes, found 513");
}
