/* What families share of a plan: lists in which each is compared with every other have an end; names of languages, of
 * tensors, of layers, and of keys; words that belong to a SentencePiece model. */
#include "plan_bench.h"

#include "models/containers/json.h"
#include "models/plan/plan.h"
#include "tokenizer/sentencepiece_c.h"
#include "models/plan/plan_tensors.h"
#include "models/text/language_tags.h"
#include "models/text/segmenters.h"
#include "models/text/vocabularies.h"

TEST_WITH(test_ids, set_up, tear_down)
{
    for (int32_t id = 0; id < FERRY_IMPORT_MAX_IDS; id++)
        for (int twice = 0; twice < 2; twice++) CHECK(ferry_import_special(&plan, &id, 1, &error));
    assert_int_equal(plan.text.special_count, FERRY_IMPORT_MAX_IDS);
    for (int32_t id = 0; id < FERRY_IMPORT_MAX_IDS; id++) assert_int_equal(plan.text.special_ids[id], id);
    const int32_t known = 5, more[] = {7, FERRY_IMPORT_MAX_IDS};
    CHECK(ferry_import_special(&plan, &known, 1, &error));
    REFUSE(ferry_import_special(&plan, more, 2, &error), FERRY_ERROR_LIMIT, ": a list of more than 8192 ids");
}

/* Ends of sentence, padding and start, each once; the first end follows a line. */
TEST_WITH(test_special_ids, set_up, tear_down)
{
    static const int32_t expected[] = {0, 3, 5, 7};
    plan.generation.pad_id = 5;
    plan.generation.start_id = 7;
    for (int twice = 0; twice < 2; twice++) CHECK(ferry_import_special_ids(&plan, &error));
    assert_true(plan.text.suffix_count == 1 && plan.text.suffix_ids[0] == 0);
    assert_int_equal(plan.text.special_count, 4);
    assert_memory_equal(plan.text.special_ids, expected, sizeof expected);
}

TEST_WITH(test_languages, set_up, tear_down)
{
    char tag[FERRY_IMPORT_MAX_TAG + 1];
    ferry_import_tags list = {NULL, NULL, 0};
    ferry_view longest = {tag, sizeof tag - 1};
    memset(tag, 'a', sizeof tag);
    for (int32_t i = 0; i < FERRY_IMPORT_MAX_LANGUAGES; i++)
        CHECK(ferry_import_add_tag(&plan, &list, longest, i, &error));
    for (int32_t i = 0; i < FERRY_IMPORT_MAX_LANGUAGES; i++) assert_int_equal(list.ids[i], i);
    REFUSE(ferry_import_add_tag(&plan, &list, longest, 0, &error), FERRY_ERROR_LIMIT, ": more than 2048 languages");
    CHECK(ferry_import_languages(&plan, &list, FERRY_TAG_NONE, FERRY_TAG_PREFIX, &error));
    longest.size++;
    REFUSE(ferry_import_languages(&plan, &(ferry_import_tags){&longest, list.ids, 1}, FERRY_TAG_NONE, FERRY_TAG_PREFIX,
                                  &error),
           FERRY_ERROR_FORMAT, "expected the tag of a language, found 'aaaa");
}

TEST_WITH(test_prefixes, set_up, tear_down)
{
    static const char *const names[] = {"a", "b/c", "b/c/", "b/d", "b/d/e", "b/d/f", "ba"};
    static const struct {
        const char *prefix;
        bool found;
    } rows[] = {{"", true},     {"a", false},     {"b", true},    {"b/c", true}, {"b/c/", false}, {"b/d", true},
                {"b/d/", true}, {"b/d/f", false}, {"b/e", false}, {"c", false},  {"0", false}};
    assert_false(ferry_import_has_prefix(&plan, ""));
    CHECK(ferry_weights_reserve(&plan.weights, COUNT(names), &error));
    for (size_t i = 0; i < COUNT(names); i++) plan.weights.entries[i].tensor.name = text_view(names[i]);
    plan.weights.count = COUNT(names);
    for (size_t i = 0; i < COUNT(rows); i++)
        if (ferry_import_has_prefix(&plan, rows[i].prefix) != rows[i].found) fail_msg("'%s'", rows[i].prefix);
}

/* ---- names of languages ---- */

/* Tags with blanks between them become languages of these names, each followed by "|". */
static void check_language_names(const char *tags, const char *expected)
{
    ferry_import_tags list = {NULL, NULL, 0};
    char found[400] = "";
    for (const char *at = tags; *at != '\0'; at += at[strcspn(at, " ")] != '\0' ? strcspn(at, " ") + 1 : strlen(at))
        CHECK(ferry_import_add_tag(&plan, &list, (ferry_view){at, strcspn(at, " ")}, list.count, &error));
    CHECK(ferry_import_languages(&plan, &list, FERRY_TAG_NONE, FERRY_TAG_PREFIX, &error));
    for (int32_t i = 0; i < list.count; i++) {
        const ferry_view names = ferry_texts_at(plan.languages.names, (size_t)i);
        snprintf(found + strlen(found), sizeof found - strlen(found), "%.*s|", (int)names.size, names.data);
    }
    assert_string_equal(found, expected);
}

/* ISO 639, and what users mean by a macrolanguage or a code that was withdrawn. */
TEST_WITH(test_language_names, set_up, tear_down)
{
    static const char *const rows[][2] = {
        {"aa zul", "aa aar|zul zu|"},
        {"DE de_DE deu", "DE|de_DE|deu|"},
        {"de_DE fr-CA", "de_DE de deu|fr-CA fr fra|"},
        {"de_AT de", "de_AT|de deu|"},
        {"__de__ >>fra<< <2en> <2> ____ >><<", "__de__ de deu|>>fra<< fra fr|<2en> en eng|<2>|____|>><<|"},
        {"<2d> abcd_Latn a de1 de_", "<2d> d|abcd_Latn|a|de1|de_ de deu|"},
        {"zho_Hans zho_Hant", "zho_Hans zh zho cmn|zho_Hant|"},
        {"ace_Arab ace_Latn bjn_Arab bjn_Latn knc_Arab knc_Latn",
         "ace_Arab|ace_Latn ace|bjn_Arab|bjn_Latn bjn|knc_Arab|knc_Latn knc kr kau|"},
        {"ace_Arab knc_Arab", "ace_Arab ace|knc_Arab knc kr kau|"},
        {"als_Latn zsm_Latn", "als_Latn als sq sqi|zsm_Latn zsm ms msa|"},
        {"sq ms", "sq sqi als|ms msa zsm|"},
        {"als sqi", "als|sqi sq|"},
        {"he in ji ns", "he heb iw|in id ind|ji yi yid|ns nso|"},
        {"nso id", "nso ns|id ind in|"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) check_language_names(rows[i][0], rows[i][1]);
}

/* The first of these names is a tag, and brings the others. */
TEST_WITH(test_codes_of_languages, set_up, tear_down)
{
    static const char *const rows[] = {
        "af afr",     "bg bul",     "bn ben",     "ca cat",     "cs ces",        "cy cym",        "da dan",
        "de deu",     "el ell",     "en eng",     "es spa",     "eu eus",        "fi fin",        "fr fra",
        "ga gle",     "gl glg",     "hi hin",     "hr hrv",     "hu hun",        "hy hye",        "is isl",
        "it ita",     "ja jpn",     "ka kat",     "kk kaz",     "ko kor",        "lt lit",        "mk mkd",
        "mt mlt",     "nl nld",     "pl pol",     "pt por",     "ro ron",        "ru rus",        "sk slk",
        "sl slv",     "sr srp",     "sv swe",     "ta tam",     "th tha",        "tr tur",        "uk ukr",
        "ur urd",     "vi vie",     "xh xho",     "zu zul",     "no nor nb nob", "ar ara arb",    "et est ekk",
        "fa fas pes", "jv jav jw",  "lv lav lvs", "sw swa swh", "zh zho cmn",    "yi yid ji ydd", "arb ar ara",
        "ayr ay aym", "azj az aze", "cmn zh zho", "ekk et est", "fil tl tgl",    "fuv ff ful",    "gaz om orm",
        "jw jv jav",  "khk mn mon", "kmr ku kur", "lvs lv lav", "nob nb no nor", "npi ne nep",    "ory or ori",
        "pbt ps pus", "pes fa fas", "plt mg mlg", "quy qu que", "swh sw swa",    "uzn uz uzb",    "ydd yi yid"};
    for (size_t i = 0; i < COUNT(rows); i++) {
        char tag[4];
        snprintf(tag, sizeof tag, "%.*s", (int)strcspn(rows[i], " "), rows[i]);
        check_language_names(tag, ferry_name_format("%s|", rows[i]).text);
    }
}

/* The defaults that a user asks for: names may have hyphens, and each language its part. */
TEST_WITH(test_named_pair, set_up, tear_down)
{
    static const ferry_view names[] = {{"zh-Hant", 7}, {"zh", 2}, {"en eng", 6}, {"de", 2}};
    static const int32_t roles[] = {1, 3, 3, 2};
    static const struct {
        const char *pair;
        int32_t source, target;
    } rows[] = {{"zh-Hant-en", 0, 2}, {"zh-ENG", 1, 2}, {"eng-de", 2, 3}, {"zh-Hant-de", 0, 3}, {"en-zh", 2, 1}};
    static const char *const wrong[] = {"de-en", "en-zh-Hant", "en-eng", "en-e", "en-engl", "-de", "en-"};
    plan.text.present = true;
    plan.languages =
        (ferry_model_languages){.names = KEPT_TEXTS(names), .roles = roles, .count = 4, .target_tag = FERRY_TAG_PREFIX};
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK(ferry_import_named_pair(&plan, rows[i].pair, &error));
        assert_int_equal(plan.languages.default_source, rows[i].source);
        assert_int_equal(plan.languages.default_target, rows[i].target);
    }
    for (size_t i = 0; i < COUNT(wrong); i++)
        REFUSE_SAYING(ferry_import_named_pair(&plan, wrong[i], &error), FERRY_ERROR_ARGUMENT,
                      ferry_name_format("pair: expected two of the model's 4 languages with a hyphen between them, "
                                        "such as 'zh-Hant-zh', found '%s'",
                                        wrong[i])
                          .text);
}

/* What a name says counts where the model says nothing. */
TEST_WITH(test_guessed_pair, set_up, tear_down)
{
    ferry_source *named;
    CHECK(ferry_source_open(scratch_directory("opus-mt-en-de"), 0, &named, &error));
    plan.source = named;
    CHECK(ferry_import_guess_pair(&plan, &error)); /* no text */
    plan.text.present = true;
    check_language_names("fr it", "fr fra|it ita|");
    CHECK(ferry_import_guess_pair(&plan, &error));
    assert_true(plan.guessed[0] == NULL && plan.languages.count == 2);
    plan.languages.count = 0;
    CHECK(ferry_import_guess_pair(&plan, &error));
    assert_string_equal(plan.guessed[0], "en");
    assert_string_equal(plan.guessed[1], "de");
    ferry_source_close(named);
}

/* ---- words ---- */

/* 256 rows without a word, and a sixteenth of them; a word without a row. */
TEST_WITH(test_spare_rows, set_up, tear_down)
{
    static const struct {
        int32_t words, rows;
        bool fits;
    } sizes[] = {
        {0, 256, true}, {14744, 16000, true}, {14743, 16000, false}, {16000, 16000, true}, {16001, 16000, false}};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        ferry_error error = {0};
        const ferry_status status = ferry_import_check_rows(&plan, "v", sizes[i].words, sizes[i].rows, &error);
        assert_int_equal(status, sizes[i].fits ? FERRY_OK : FERRY_ERROR_FORMAT);
        const ferry_name what =
            ferry_name_format("v: %d words for the 16000 rows of embeddings in ", (int)sizes[i].words);
        if (!sizes[i].fits) assert_non_null(strstr(error.message, what.text));
    }
}

static int notes;

static void count_note(void *user, const char *message)
{
    (void)user;
    (void)message;
    notes++;
}

static ferry_spm *open_pieces(const char *name)
{
    char *path = data_file("models/marian-separate/%s", name);
    ferry_spm *spm;
    CHECK(ferry_spm_create(mapped_bytes(path), path, &spm, &error));
    return spm;
}

/* Words: `pieces` of the SentencePiece model's, from the one `first` on, and others. */
static const ferry_texts *words_of(const ferry_spm *spm, int32_t first, int32_t pieces, int32_t others)
{
    ferry_view *words = kept_memory((size_t)(pieces + others + 1) * sizeof *words);
    int32_t count = 0, normal = 0;
    for (int32_t id = 0; count < pieces; id++)
        if (ferry_spm_kind_of(spm, id) == FERRY_SPM_NORMAL && normal++ >= first)
            words[count++] = ferry_spm_piece(spm, id);
    for (; count < pieces + others; count++) {
        char *word = kept_memory(16);
        snprintf(word, 16, "other-%d", (int)count);
        words[count] = text_view(word);
    }
    return kept_texts(words, (size_t)count);
}

/* Of the model's 898 pieces half have to be words; nine tenths, and three quarters of the words pieces, are usual. Of
 * fewer than 64 words nothing follows. */
TEST_WITH(test_words_and_pieces, set_up, tear_down)
{
    static const struct {
        int32_t pieces, others;
        bool accepted, noted;
    } rows[] = {{898, 0, true, false},  {809, 0, true, false},  {808, 0, true, true},
                {449, 0, true, true},   {448, 0, false, false}, {898, 299, true, false},
                {898, 300, true, true}, {0, 63, true, false},   {0, 64, false, false}};
    const ferry_import_options options = {.noted = count_note};
    plan.segmenters[plan.segmenter_count++] = open_pieces("source.spm");
    plan.segmenter_files[0] = "s";
    plan.vocabulary_files[0] = "v";
    for (size_t i = 0; i < COUNT(rows); i++) {
        ferry_error error = {0};
        notes = 0;
        plan.text.source_pieces = words_of(plan.segmenters[0], 0, rows[i].pieces, rows[i].others);
        plan.text.source_count = rows[i].pieces + rows[i].others;
        const ferry_status status = ferry_import_check_vocabularies(&plan, &options, &error);
        if ((status == FERRY_OK) != rows[i].accepted || notes != rows[i].noted)
            fail_msg("row %zu: %s", i, error.message);
    }
}

/* Two sides are swapped where both have more in common with the other, not where one has, or where they are alike. */
TEST_WITH(test_swapped_words, set_up, tear_down)
{
    const ferry_import_options options = {.noted = count_note};
    for (int i = 0; i < 2; i++) plan.segmenters[plan.segmenter_count++] = open_pieces("source.spm");
    plan.text.source_pieces = words_of(plan.segmenters[0], 0, 100, 0);
    plan.text.target_pieces = words_of(plan.segmenters[0], 50, 100, 0);
    plan.text.source_count = plan.text.target_count = 100;
    CHECK(ferry_import_check_vocabularies(&plan, &options, &error));
    plan.text.target_count = 99;
    CHECK(ferry_import_check_vocabularies(&plan, &options, &error));
}

/* One word of twenty has the mark; or "\u2581" itself is a word. */
TEST_WITH(test_marks, set_up, tear_down)
{
    static const struct {
        const char *word;
        int32_t others;
        const char *what; /* NULL: no segmenter is needed */
    } rows[] = {{"\u2581a", 19, "v: 1 of its 20 words have the mark '\u2581': expected a SentencePiece model or "},
                {"\u2581a", 39, NULL},
                {"\u2581", 199, "v: 1 of its 200 words have the mark '\u2581'"},
                {"a\u2581", 0, NULL},
                {"a@@", 19, "'@@': expected tokenizer.json, or bpe.model with an Argos package's metadata.json beside"},
                {"@@", 199, NULL},
                {"@@a", 0, NULL},
                {"a</w>", 0, "'</w>': expected tokenizer.json beside it"},
                {"a\uffed", 0, "'\uffed': expected OpenNMT's tokenizer (which Ferry lacks) beside it"},
                {"\uffeda", 0, "'\uffed': expected OpenNMT's tokenizer"},
                {"\u0120a", 0, "'\u0120': expected byte-level pairs (which Ferry lacks)"},
                {"a", 9, NULL}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        ferry_view words[200] = {text_view(rows[i].word)};
        for (int32_t k = 1; k <= rows[i].others; k++) words[k] = text_view("b");
        plan.text.present = true;
        plan.text.source_pieces = plan.text.target_pieces = kept_texts(words, (size_t)rows[i].others + 1);
        plan.text.source_count = plan.text.target_count = rows[i].others + 1;
        plan.vocabulary_files[0] = "v";
        REFUSE(ferry_import_find_segmenter(&plan, &error), rows[i].what != NULL ? FERRY_ERROR_UNSUPPORTED : FERRY_OK,
               rows[i].what);
    }
}

/* Each side's own, which for the target may be missing. Of a vocabulary that both share, 898 of 1198 words are too few.
 */
TEST_WITH(test_segmenters_of_two_sides, set_up, tear_down)
{
    ferry_spm *spm[] = {open_pieces("source.spm"), open_pieces("target.spm")};
    char *directory = scratch_directory("two-sides");
    link_file(data_file("models/marian-separate/source.spm"), directory, "b.model");
    for (int i = 0; i < 3; i++) {
        tear_down(NULL);
        if (i == 1) link_file(data_file("models/marian-separate/target.spm"), directory, "a.model");
        CHECK(ferry_source_open(directory, 0, &source, &error));
        ferry_import_plan_init(&plan, source);
        plan.text.present = true;
        plan.text.source_count = i == 2 ? 1198 : 898;
        plan.text.target_count = 698;
        plan.text.source_pieces = words_of(spm[0], 0, 898, plan.text.source_count - 898);
        plan.text.target_pieces = i == 2 ? plan.text.source_pieces : words_of(spm[1], 0, 698, 0);
        REFUSE(ferry_import_find_segmenter(&plan, &error), i == 2 ? FERRY_ERROR_UNSUPPORTED : FERRY_OK,
               i == 2 ? "; b.model: 100 % of the pieces are words, and 74 % of the words pieces; " : NULL);
        if (i == 2) break;
        assert_true(plan.segmenter_count == (size_t)(1 + i) && ferry_text_ends(plan.segmenter_files[0], "/b.model"));
        assert_int_equal(plan.text.target_model.size > 0, i);
        if (i == 1) assert_true(ferry_text_ends(plan.segmenter_files[1], "/a.model"));
    }
    for (int i = 0; i < 2; i++) ferry_spm_destroy(spm[i]);
}

/* ---- keys of a configuration ---- */

TEST_WITH(test_keys_of_two_names, set_up, tear_down)
{
    static const struct {
        const char *text;
        int32_t expected; /* 0: refused */
    } rows[] = {
        {"{\"a\": 5}", 5}, {"{\"b\": 6}", 6}, {"{\"a\": 7, \"b\": 7}", 7}, {"{}", 3}, {"{\"a\": 7, \"b\": 8}", 0}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        int32_t number = 3, last = 0;
        const ferry_json_key keys[] = {{.name = "a", .integer = &number, .min = 1, .max = 9, .other = "b"},
                                       {.name = "c", .integer = &last, .max = 9}};
        json_t *root = json_loads(rows[i].text, 0, NULL);
        const ferry_json json = {.object = root, .file = "in"};
        if (rows[i].expected == 0)
            REFUSE_SAYING(ferry_json_read(json, keys, 2, false, &error), FERRY_ERROR_UNSUPPORTED,
                          "in: 'b' 8, but 'a' 7, which mean the same");
        else
            CHECK(ferry_json_read(json, keys, 2, false, &error));
        if (rows[i].expected != 0) assert_int_equal(number, rows[i].expected);
        REFUSE(ferry_json_read(json, keys + 1, 1, true, &error), FERRY_ERROR_FORMAT, "in: 'c' is missing");
        json_decref(root);
    }
}

/* ---- layers ---- */

enum { WIDTH = 4, INNER = 6 };

/* An entry that the plan's weights shall have, [rows, columns], or a vector for rows = 0, of zeros. */
typedef struct wanted_entry {
    const char *name;
    int32_t rows, columns;
} wanted_entry;

static void add_entries(const wanted_entry *entries, size_t count)
{
    static const float zeros[INNER * WIDTH];
    CHECK(ferry_weights_reserve(&plan.weights, count, &error));
    for (size_t i = 0; i < count; i++)
        plan.weights.entries[i] = entry_of(entries[i].name, FERRY_F32, entries[i].rows, entries[i].columns, zeros);
    plan.weights.count = count;
    CHECK(ferry_import_weights_ready(&plan, &error));
}

static void check_tensors(const char *expected)
{
    made_file text = {.size = 0};
    for (size_t i = 0; i < plan.tensor_count; i++) {
        const ferry_import_tensor *t = &plan.tensors[i];
        const ferry_view from = t->source != NULL ? t->source->tensor.name : text_view("zeros");
        put_text(&text, ferry_name_format("%s[%d,%d] %.*s|", t->name, t->N, t->K, (int)from.size, from.data).text);
    }
    put(&text, 0, 1);
    assert_string_equal((const char *)text.data, expected);
}

/* Codes [3 · WIDTH, WIDTH] with a multiplier for each row. */
static ferry_status read_codes(void *context, const char *name, int32_t N, int32_t K, ferry_import_tensor *matrix,
                               ferry_error *error)
{
    static const float multipliers[3 * WIDTH] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    static const int8_t codes[3 * WIDTH * WIDTH];
    ferry_weights_entry *entry = context;
    (void)error;
    assert_string_equal(name, "decoder/layer_7/qkv");
    assert_true(N == 3 * WIDTH && K == WIDTH);
    *entry = entry_of("codes", FERRY_I8, N, K, codes);
    *matrix = ferry_import_whole(entry, FERRY_IMPORT_MATRIX);
    matrix->multipliers = multipliers;
    matrix->multiplier_count = N;
    return FERRY_OK;
}

/* Slices of a matrix of codes have their own multipliers; layers have numbers of their own. */
TEST_WITH(test_slices_of_codes, set_up, tear_down)
{
    static const ferry_layer_row rows[] = {{.to = "q", .from = "qkv", .shape = "AD", .slice = 0, .slices = 3},
                                           {.to = "v", .from = "qkv", .shape = "AD", .slice = 2, .slices = 3}};
    static const int32_t numbers[] = {7};
    ferry_weights_entry entry;
    const ferry_layer_table table = {.rows = rows,
                                     .count = 2,
                                     .layer = "/layer_",
                                     .separator = "/",
                                     .numbers = numbers,
                                     .matrix = read_codes,
                                     .context = &entry};
    plan.model.d_model = WIDTH;
    plan.model.decoder = (ferry_stack){.layer_count = 1, .heads = 2, .head_width = WIDTH / 2};
    CHECK(ferry_import_layers(&plan, &table, true, &error));
    check_tensors("dec.blk.0.q.weight[4,4] codes|dec.blk.0.v.weight[4,4] codes|");
    for (int i = 0; i < 2; i++) {
        const ferry_import_tensor *tensor = &plan.tensors[i];
        assert_int_equal(tensor->offset, i * 2 * WIDTH * WIDTH);
        assert_int_equal(tensor->multiplier_count, WIDTH);
        assert_true(*(const float *)tensor->multipliers == (i == 0 ? 1 : 9));
    }
}

/* Where one matrix of a stack has a bias, here that of its last layer, the others have zeros; what rows need. */
TEST_WITH(test_rows_of_layers, set_up, tear_down)
{
    static const ferry_layer_row rows[] = {
        {.to = "first", .from = "start", .shape = "D", .needs = FERRY_ROW_STACK | FERRY_ROW_OPTIONAL},
        {.to = "up", .from = "fc1", .shape = "FD", .needs = FERRY_ROW_PLAIN},
        {.to = "gate", .from = "fc3", .shape = "FD", .needs = FERRY_ROW_GATED},
        {.to = "norm", .from = "ln", .shape = "D", .needs = FERRY_ROW_ENCODER},
        {.to = "last", .from = "end", .shape = "D", .needs = FERRY_ROW_STACK | FERRY_ROW_POST_NORM},
        {.to = "pre", .from = "pre", .shape = "D", .needs = FERRY_ROW_STACK | FERRY_ROW_PRE_NORM},
    };
    const ferry_layer_table table = {.rows = rows,
                                     .count = COUNT(rows),
                                     .layer = ".",
                                     .separator = ".",
                                     .linear = {".w", ".b"},
                                     .norm = {".w", ".b"},
                                     .zero_bias = true};
    static const wanted_entry entries[] = {
        {"encoder.0.fc1.w", INNER, WIDTH}, {"encoder.0.ln.b", 0, WIDTH},      {"encoder.0.ln.w", 0, WIDTH},
        {"encoder.1.fc1.b", 0, INNER},     {"encoder.1.fc1.w", INNER, WIDTH}, {"encoder.1.ln.b", 0, WIDTH},
        {"encoder.1.ln.w", 0, WIDTH},
    };
    plan.model.d_model = WIDTH;
    plan.model.encoder = (ferry_stack){.layer_count = 2, .heads = 1, .head_width = WIDTH, .ffn_width = INNER};
    add_entries(entries, COUNT(entries));
    REFUSE(ferry_import_layers(&plan, &table, false, &error), FERRY_ERROR_FORMAT,
           ": tensor 'encoder.end.w' is missing");
    check_tensors("enc.blk.0.up.weight[6,4] encoder.0.fc1.w|enc.blk.0.up.bias[6,1] zeros|"
                  "enc.blk.0.norm.weight[4,1] encoder.0.ln.w|enc.blk.0.norm.bias[4,1] encoder.0.ln.b|"
                  "enc.blk.1.up.weight[6,4] encoder.1.fc1.w|enc.blk.1.up.bias[6,1] encoder.1.fc1.b|"
                  "enc.blk.1.norm.weight[4,1] encoder.1.ln.w|enc.blk.1.norm.bias[4,1] encoder.1.ln.b|");
    plan.weights.entries[5].tensor.name = text_view("encoder.1.ln.c"); /* a norm's is no zeros */
    REFUSE(ferry_import_layers(&plan, &table, false, &error), FERRY_ERROR_FORMAT,
           ": tensor 'encoder.1.ln.b' is missing");
}

/* Of a decoder of SSRUs with RMS norms, which have no bias; a bias of another name; a row that may be missing. */
TEST_WITH(test_rows_of_decoders, set_up, tear_down)
{
    static const ferry_layer_row rows[] = {
        {.to = "first", .from = "start", .shape = "D", .needs = FERRY_ROW_STACK | FERRY_ROW_OPTIONAL},
        {.to = "q", .from = "q", .shape = "AD", .needs = FERRY_ROW_ATTENTION},
        {.to = "forget", .from = "f", .shape = "DD", .needs = FERRY_ROW_SSRU | FERRY_ROW_DECODER, .bias = "bf"},
        {.to = "norm", .from = "ln", .shape = "D", .needs = FERRY_ROW_ENCODER},
    };
    const ferry_layer_table table = {.rows = rows,
                                     .count = COUNT(rows),
                                     .layer = ".",
                                     .separator = ".",
                                     .linear = {".w", NULL},
                                     .norm = {".w", ".b"}};
    static const wanted_entry entries[] = {
        {"decoder.0.bf", 0, WIDTH},   {"decoder.0.f.w", WIDTH, WIDTH}, {"decoder.start.w", 0, WIDTH},
        {"encoder.0.ln.w", 0, WIDTH}, {"encoder.0.q.w", WIDTH, WIDTH},
    };
    plan.model.d_model = WIDTH;
    plan.model.ssru = true;
    plan.model.decoder = plan.model.encoder =
        (ferry_stack){.layer_count = 1, .heads = 1, .head_width = WIDTH, .norm = FERRY_RMS_NORM};
    add_entries(entries, COUNT(entries));
    CHECK(ferry_import_layers(&plan, &table, false, &error));
    CHECK(ferry_import_layers(&plan, &table, true, &error));
    check_tensors("enc.blk.0.q.weight[4,4] encoder.0.q.w|enc.blk.0.norm.weight[4,1] encoder.0.ln.w|"
                  "dec.first.weight[4,1] decoder.start.w|dec.blk.0.forget.weight[4,4] decoder.0.f.w|"
                  "dec.blk.0.forget.bias[4,1] decoder.0.bf|");
    CHECK(ferry_import_check_unused(&plan, NULL, &error));
}

/* ---- vocabularies ---- */

TEST_WITH(test_vocabulary_ids, set_up, tear_down)
{
    static const struct {
        const char *text, *what; /* NULL: accepted */
    } rows[] = {{"{\"a\": 0, \"c\": 2}", NULL},
                {"{\"a\": 0, \"c\": 3}", "in: piece 'c': expected an id from 0 to 2"},
                {"{\"a\": 0, \"c\": -1}", "in: piece 'c': expected an id from 0 to 2"},
                {"{\"a\": 0, \"c\": 1.0}", "in: piece 'c': expected an id from 0 to 2"},
                {"{\"a\": 2, \"b\": 1, \"c\": 2}", "in: pieces 'a' and 'c' both have id 2"}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const ferry_texts *pieces;
        json_t *root = json_loads(rows[i].text, 0, NULL);
        const ferry_json json = {.object = root, .file = "in"};
        if (rows[i].what != NULL) {
            REFUSE_SAYING(ferry_import_vocabulary(&plan, json, 3, &pieces, &error), FERRY_ERROR_FORMAT, rows[i].what);
        } else {
            CHECK(ferry_import_vocabulary(&plan, json, 3, &pieces, &error));
            assert_true(has_text(ferry_texts_at(pieces, 0), "a") && has_text(ferry_texts_at(pieces, 1), ""));
            assert_true(has_text(ferry_texts_at(pieces, 2), "c"));
        }
        json_decref(root);
    }
}

/* As many JSON files as a plan keeps, and one more. */
TEST_WITH(test_many_trees, set_up, tear_down)
{
    for (int i = 0; i < FERRY_IMPORT_MAX_TREES; i++) CHECK(ferry_import_keep_json(&plan, "in", json_object(), &error));
    REFUSE_SAYING(ferry_import_keep_json(&plan, "in", json_object(), &error), FERRY_ERROR_LIMIT,
                  "in: more than 16 JSON files");
}

/* Of the only SentencePiece model, though the second is asked for; as many rows as it has, or more. */
TEST_WITH(test_own_vocabulary, set_up, tear_down)
{
    const ferry_spm *spm = plan.segmenters[plan.segmenter_count++] = open_pieces("source.spm");
    const int32_t count = ferry_spm_count(spm);
    const ferry_texts *pieces;
    int32_t unknown = -1;
    plan.segmenter_files[0] = "s";
    CHECK(ferry_import_own_vocabulary(&plan, 1, count, &pieces, &unknown, &error));
    assert_true(ferry_view_equal(ferry_texts_at(pieces, (size_t)count - 1), ferry_spm_piece(spm, count - 1)));
    assert_int_equal(unknown, ferry_spm_unknown(spm));
    REFUSE(ferry_import_own_vocabulary(&plan, 1, count - 1, &pieces, &unknown, &error), FERRY_ERROR_FORMAT,
           "s: 900 words for the 899 rows of embeddings in ");
}
