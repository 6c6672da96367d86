/* Merges in a model file: what they are in a tokenizer, with defaults and with choices, what is refused, and that a
 * file which is written again keeps them. */
#include "tests/support/model_damage.h"

#include "engine/lines/model.h"

#define VIEW(literal) ((ferry_view){literal, sizeof(literal) - 1})

static void put_two_sides(ferry_gguf_writer *writer)
{
    static const ferry_view source[] = {VIEW("a b"), VIEW("ab c</w>")}, target[] = {VIEW("b c</w>")};
    ferry_gguf_put_texts(writer, "ferry.tokenizer.source.merges", source, 2);
    ferry_gguf_put_texts(writer, "ferry.tokenizer.target.merges", target, 1);
}

static void put_no_target(ferry_gguf_writer *writer)
{
    static const ferry_view source[] = {VIEW("a b")};
    ferry_gguf_put_texts(writer, "ferry.tokenizer.source.merges", source, 1);
    ferry_gguf_put_texts(writer, "ferry.tokenizer.target.merges", source, 0);
}

static void put_defaults(ferry_gguf_writer *writer)
{
    static const ferry_view source[] = {VIEW("x y")};
    ferry_gguf_put_texts(writer, "ferry.tokenizer.source.merges", source, 1);
}

static void put_choices(ferry_gguf_writer *writer)
{
    static const ferry_view word_end = VIEW("!");
    put_defaults(writer);
    ferry_gguf_put(writer, "ferry.tokenizer.source.word_end", FERRY_GGUF_TEXT, &word_end);
    ferry_gguf_put_bool(writer, "ferry.tokenizer.source.fuse_unknown", true);
    ferry_gguf_put_bool(writer, "ferry.tokenizer.source.whole_words", true);
}

static const char *const pieces[26] = {[1] = "<unk>", "abc", "a@@", "bc", "x!", "x", "y", "xy", "y!", "ab@@", "c"};

static void check_ids(const ferry_model *model, const char *text, bool target, const char *expected)
{
    ferry_ids ids = {0};
    char found[128] = "";
    REFUSE(target ? ferry_tokenizer_encode_target(model->tokenizer, text_view(text), &ids, NULL, &error)
                  : ferry_tokenizer_encode(model->tokenizer, text_view(text), &ids, &error),
           FERRY_ERROR_UNSUPPORTED, expected != NULL ? NULL : "the model file has no merges of the target side");
    for (size_t i = 0; i < ids.count; i++)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%d ", (int)ids.ids[i]);
    if (expected != NULL) assert_string_equal(found, expected);
    free(ids.ids);
}

/* As they are written, and the same after the file has been converted again. */
TEST(test_merges_of_a_file)
{
    static const struct {
        const char *tokenizer;
        void (*keys)(ferry_gguf_writer *writer);
        const char *source, *ids, *target, *target_ids; /* NULL: refused */
    } rows[] = {
        {"subword-nmt-0.2", put_two_sides, "abc aac", "2 3 3 11 0 ", "abc", "3 4 "},
        {"subword-nmt-0.1", put_no_target, "ab", "1 0 ", "ab", NULL},
        {"bpe", put_defaults, "abc", "1 1 11 0 ", "xyx??", "8 6 1 1 "},
        {"bpe", put_choices, "xyx", "8 5 0 ", "y", "7 "},
        {"bpe", put_choices, "abc", "2 0 ", "??", "1 "},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *path = new_scratch_file("merges.gguf");
        const small_model small = {.tokenizer = rows[i].tokenizer, .pieces = pieces, .keys = rows[i].keys};
        ferry_model *models[2];
        write_small_model(path, &small);
        CHECK(ferry_model_open(path, 0, &models[0], &error));
        models[1] = convert_and_open(path, NULL);
        for (size_t m = 0; m < COUNT(models); m++) {
            check_ids(models[m], rows[i].source, false, rows[i].ids);
            check_ids(models[m], rows[i].target, true, rows[i].target_ids);
            ferry_model_close(models[m]);
        }
    }
}

TEST(test_bad_merges_of_a_file)
{
    ferry_model *opened;
    const small_model subwords = {.tokenizer = "subword-nmt-0.2", .pieces = pieces, .keys = put_two_sides};
    static const refusal rows[] = {
        {"ferry.tokenizer.source.merges", NULL, FORMAT, "key 'ferry.tokenizer.source.merges' is missing"},
    };
    sample model = make_small_sample(&subwords);
    REFUSE_EACH(model, rows);
    unsigned char *merge = model.data + place_of(&model, "ab c</w>");
    merge[2] = 'x';
    write_bytes(model.path, model.data, model.size);
    REFUSE(ferry_model_open(model.path, 0, &opened, &error), FORMAT,
           "source merges: merge 2: expected two texts with one blank between them, found 'abxc</w>'");
}
