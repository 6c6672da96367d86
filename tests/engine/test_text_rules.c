/* Steps that a model file may not have, segmentations worked out by hand, and what is not compared with the package
 * `tokenizers`: ill-formed text. tests/models/test_tokenizer_json.c has the rest. */
#include "tests/support/support.h"

#include <math.h>

#include "tokenizer/text_rules.h"
#include "tokenizer/unigram.h"

static const ferry_view pieces[] = {{"<unk>", 5}, {"a", 1}, {"b", 1}, {"ab", 2}, {"<m>", 3}};

enum { UNKNOWN, A, B, AB, MASK, PIECES };

static ferry_text_rules *create(const ferry_view *steps, size_t count)
{
    static const int32_t ids[] = {MASK}, flags[] = {FERRY_ADDED_LSTRIP};
    const ferry_text_rules_config config = {.steps = kept_texts(steps, count),
                                            .step_count = count,
                                            .added_ids = ids,
                                            .added_flags = flags,
                                            .added_count = 1,
                                            .pieces = KEPT_TEXTS(pieces),
                                            .piece_count = PIECES};
    ferry_text_rules *rules;
    CHECK(ferry_text_rules_create(&config, &rules, &error));
    return rules;
}

/* ---- steps ---- */

typedef struct bad_steps {
    const char *steps[3];
    size_t count;
    ferry_status status;
    const char *what;
} bad_steps;

TEST(test_bad_steps)
{
    static const bad_steps rows[] = {
        {{"lowercase"}, 1, FERRY_ERROR_UNSUPPORTED, "tokenizer's step 'lowercase' is not supported by this build"},
        {{"replace", "a"}, 2, FERRY_ERROR_FORMAT, "tokenizer's step 'replace': expected 2 arguments, found 1"},
        {{"replace", "", "a"},
         3,
         FERRY_ERROR_FORMAT,
         "tokenizer's step 'replace': argument 1: expected a text, found ''"},
        {{"replace-blanks", "0", "a"},
         3,
         FERRY_ERROR_FORMAT,
         "tokenizer's step 'replace-blanks': argument 1: expected 1 to 9, found '0'"},
        {{"metaspace", "often"},
         2,
         FERRY_ERROR_FORMAT,
         "tokenizer's step 'metaspace': argument 1: expected always, first or never, found 'often'"},
        {{"prepend", "\xFF"},
         2,
         FERRY_ERROR_FORMAT,
         "tokenizer's step 'prepend': argument 1: expected at most 512 bytes of UTF-8, found '\\xff'"},
        {{"split-space", "strip-left"},
         2,
         FERRY_ERROR_FORMAT,
         "tokenizer's step 'strip-left': expected before the steps that make words, found behind one"},
        {{"precompiled"}, 1, FERRY_ERROR_FORMAT, "tokenizer's step 'precompiled': the table of rules is missing"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ferry_view steps[3];
        for (size_t k = 0; k < rows[i].count; k++) steps[k] = ferry_text_view(rows[i].steps[k]);
        const ferry_text_rules_config config = {.steps = kept_texts(steps, rows[i].count), .step_count = rows[i].count};
        ferry_text_rules *rules;
        REFUSE_SAYING(ferry_text_rules_create(&config, &rules, &error), rows[i].status, rows[i].what);
        assert_null(rules);
    }
}

TEST(test_bad_added_tokens)
{
    static const int32_t ids[] = {PIECES}, flags[] = {0};
    const ferry_text_rules_config config = {
        .added_ids = ids, .added_flags = flags, .added_count = 1, .pieces = KEPT_TEXTS(pieces), .piece_count = PIECES};
    ferry_text_rules *rules;
    REFUSE_SAYING(ferry_text_rules_create(&config, &rules, &error), FERRY_ERROR_FORMAT,
                  "added token 0: expected an id below 5 and flags to 7");
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

static void check_words(const ferry_text_rules *rules, const char *text, const char *expected)
{
    words found = {""};
    CHECK(ferry_text_rules_apply(rules, ferry_text_view(text), note_word, &found, &error));
    assert_string_equal(found.text, expected);
}

TEST(test_words)
{
    const ferry_view steps[] = {ferry_text_view("replace"), ferry_text_view("b"),
                                ferry_text_view("cc"),      ferry_text_view("metaspace"),
                                ferry_text_view("always"),  ferry_text_view("split-metaspace")};
    ferry_text_rules *rules = create(steps, 6);
    check_words(rules, "", "");
    check_words(rules, "ab  a", "\u2581acc@0-2 \u2581@2-3 \u2581a@3-5 ");
    check_words(rules, "a  <m>b", "\u2581a@0-1 #4@1-6 \u2581cc@6-7 ");
    check_words(rules, "a\xFF\xE2\x82", "\u2581a\uFFFD\uFFFD\uFFFD@0-4 ");
    ferry_text_rules_destroy(rules);
}

/* Steps that make more of each other's text cannot fill the memory. */
TEST(test_growth)
{
    enum { FEW = 300, MANY = 3000 }; /* characters of which each becomes 256 bytes */
    char long_text[257], text[MANY];
    memset(long_text, 'c', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    memset(text, 'b', sizeof text);
    const ferry_view steps[] = {ferry_text_view("replace"), ferry_text_view("b"), ferry_text_view(long_text)};
    ferry_text_rules *rules = create(steps, 3);
    ferry_string normal = {0};
    REFUSE_SAYING(ferry_text_rules_normalize(rules, (ferry_view){text, FEW}, &normal, &error), FERRY_ERROR_LIMIT,
                  "text: expected at most 70336 bytes after normalization, found more");
    REFUSE(ferry_text_rules_normalize(rules, (ferry_view){text, MANY}, &normal, &error), FERRY_ERROR_LIMIT, "113536");
    CHECK(ferry_text_rules_normalize(rules, (ferry_view){text, FEW / 2}, &normal, &error));
    assert_int_equal(normal.size, FEW / 2 * 256);
    free(normal.data);
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

static void check_pieces(const double *scores, const char *word, const char *expected)
{
    const ferry_unigram_config config = {KEPT_TEXTS(pieces), scores, PIECES, UNKNOWN, false};
    ferry_unigram unigram;
    ferry_unigram_scratch scratch = {NULL, 0};
    words found = {""};
    CHECK(ferry_unigram_create(&config, &unigram, &error));
    CHECK(ferry_unigram_segment(&unigram, ferry_text_view(word), &scratch, note_piece, &found, &error));
    assert_string_equal(found.text, expected);
    ferry_unigram_destroy(&unigram);
    free(scratch.nodes);
}

/* -3 against -1 - 1 = -2, against -1 - 2 = -3: the one that ends in the piece that was found first stays. */
TEST(test_best_pieces)
{
    static const double apart[] = {0, -1, -1, -3, NAN}, equal[] = {0, -1, -2, -3, NAN},
                        whole[] = {0, -1, -2, -2.5, NAN}, rare[] = {0, -5, NAN, -20, -1};
    check_pieces(apart, "ab", "1@0-1 2@1-2 ");
    check_pieces(equal, "ab", "3@0-2 ");
    check_pieces(whole, "aab", "1@0-1 3@1-3 ");
    check_pieces(whole, "xya<m>", "0@0-2 1@2-3 0@3-6 ");
    check_pieces(whole, "", "");
    check_pieces(rare, "ab", "3@0-2 "); /* -20, against -5 and ten less than the least score */
}

TEST(test_long_piece)
{
    char *text = kept_memory(FERRY_UNIGRAM_MAX_PIECE + 1);
    memset(text, 'a', FERRY_UNIGRAM_MAX_PIECE + 1);
    const ferry_view known[] = {{"<unk>", 5}, {text, FERRY_UNIGRAM_MAX_PIECE + 1}};
    const ferry_unigram_config config = {KEPT_TEXTS(known), (const double[]){0, 0}, 2, 0, false};
    ferry_unigram unigram;
    REFUSE_SAYING(ferry_unigram_create(&config, &unigram, &error), FERRY_ERROR_UNSUPPORTED,
                  "piece 1: expected at most 512 bytes, found 513");
}
