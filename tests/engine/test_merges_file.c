/* Merges in a model file: what they are in a tokenizer, their defaults, what is refused, and that a file which is
 * written again keeps them. */
#include "tests/support/model_damage.h"

#include "engine/api/model.h"

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

static void put_one(ferry_gguf_writer *writer)
{
    static const ferry_view source[] = {VIEW("x y")}, word_end = VIEW("!");
    ferry_gguf_put_texts(writer, "ferry.tokenizer.source.merges", source, 1);
    ferry_gguf_put(writer, "ferry.tokenizer.source.word_end", FERRY_GGUF_TEXT, &word_end);
    ferry_gguf_put_bool(writer, "ferry.tokenizer.source.fuse_unknown", true);
    ferry_gguf_put_bool(writer, "ferry.tokenizer.source.whole_words", true);
}

static const char *const pieces[26] = {[1] = "<unk>", "abc", "a@@", "bc", "x!", "x", "y", "xy", "y!", "ab@@", "c"};

static const small_model subwords = {.tokenizer = "subword-nmt-0.2", .pieces = pieces, .keys = put_two_sides};
static const small_model words = {.tokenizer = "bpe", .pieces = pieces, .keys = put_one};

/* The same after the file has been converted again. */
static void check_twice(const small_model *model, void (*check)(const ferry_model *model))
{
    const char *path = new_scratch_file("merges.gguf");
    ferry_model *opened;
    write_small_model(path, model);
    CHECK(ferry_model_open(path, 0, &opened, &error));
    check(opened);
    ferry_model_close(opened);
    opened = convert_and_open(path, NULL);
    check(opened);
    ferry_model_close(opened);
}

static void check_ids(const ferry_model *model, const char *text, bool target, const char *expected)
{
    const ferry_view view = text_view(text);
    ferry_ids ids = {0};
    char found[128] = "";
    if (target)
        CHECK(ferry_tokenizer_encode_target(model->tokenizer, view, &ids, NULL, &error));
    else
        CHECK(ferry_tokenizer_encode(model->tokenizer, view, &ids, &error));
    for (size_t i = 0; i < ids.count; i++)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%d ", (int)ids.ids[i]);
    assert_string_equal(found, expected);
    free(ids.ids);
}

static void check_subwords(const ferry_model *model)
{
    assert_int_equal(model->file.text.kind, FERRY_TOKENIZER_SUBWORD_NMT_2);
    check_ids(model, "abc aac", false, "2 3 3 11 0 ");
    check_ids(model, "abc", true, "3 4 ");
}

static void check_words(const ferry_model *model)
{
    const ferry_model_text *text = &model->file.text;
    assert_true(text->kind == FERRY_TOKENIZER_BPE && text->target_merges == text->source_merges);
    assert_true(text->fuse_unknown && text->whole_words);
    check_ids(model, "xyx", false, "8 5 0 ");
    check_ids(model, "y", true, "7 ");
    check_ids(model, "??", true, "1 ");
}

static void check_no_target(const ferry_model *model)
{
    ferry_ids ids = {0};
    check_ids(model, "ab", false, "1 0 ");
    REFUSE(ferry_tokenizer_encode_target(model->tokenizer, VIEW("ab"), &ids, NULL, &error), FERRY_ERROR_UNSUPPORTED,
           "the model file has no merges of the target side");
    free(ids.ids);
}

TEST(test_merges_of_a_file)
{
    static const small_model no_target = {.tokenizer = "subword-nmt-0.1", .pieces = pieces, .keys = put_no_target};
    check_twice(&subwords, check_subwords);
    check_twice(&words, check_words);
    check_twice(&no_target, check_no_target);
}

TEST(test_merges_by_default)
{
    ferry_model_file file;
    sample model = make_small_sample(&subwords);
    CHECK(open_model_file(model.path, &file, &error));
    assert_true(file.text.source_merge_count == 2 && file.text.target_merge_count == 1);
    assert_true(file.text.word_end.size == 0 && !file.text.fuse_unknown && !file.text.whole_words);
    ferry_model_file_close(&file);
    static const refusal rows[] = {
        {"ferry.tokenizer.source.merges", NULL, FORMAT, "key 'ferry.tokenizer.source.merges' is missing"},
    };
    REFUSE_EACH(model, rows);
}

TEST(test_bad_merges_of_a_file)
{
    ferry_model *opened;
    sample model = make_small_sample(&subwords);
    unsigned char *merge = model.data + place_of(&model, "ab c</w>");
    merge[2] = 'x';
    write_bytes(model.path, model.data, model.size);
    REFUSE(ferry_model_open(model.path, 0, &opened, &error), FORMAT,
           "source merges: merge 2: expected two texts with one blank between them, found 'abxc</w>'");
}
