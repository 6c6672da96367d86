/* Ids of given translations: those that transformers finds (tests/data/tokenizer/record.py), whichever file holds the
 * target's SentencePiece model. */
#include "tests/support/import_support.h"

#include <pthread.h>

#include "engine/lines/model.h"
#include "tests/support/check_ranges.h"
#include "tests/support/ctranslate2_made.h"
#include "tests/support/made_marian.h"
#include "tokenizer/sentencepiece_c.h"

static ferry_status encode_target(const ferry_model *model, const char *text, ferry_ids *ids, ferry_ranges *ranges,
                                  ferry_error *error)
{
    return ferry_tokenizer_encode_target(model->tokenizer, text_view(text), ids, ranges, error);
}

/* `expected`: "12 3 4". */
static void check_ids(const ferry_model *model, const char *text, char *expected)
{
    ferry_ids ids = {0};
    ferry_ranges ranges = {0};
    size_t count = 0;
    CHECK(encode_target(model, text, &ids, &ranges, &error));
    for (char *id; (id = take_until(&expected, ' ')) != NULL && *id != '\0'; count++)
        if (count >= ids.count || ids.ids[count] != atoi(id)) fail_msg("'%s': id %zu: expected %s", text, count, id);
    if (count != ids.count) fail_msg("'%s': expected %zu ids, found %zu", text, count, ids.count);
    assert_int_equal(ranges.count, count);
    assert_null(fault_of_ranges(text_view(text), ranges.ranges, count));
    free(ids.ids);
    free(ranges.ranges);
}

/* The lines of a model of targets.tsv. */
static void check_recorded(const char *name, const char *directory, size_t expected)
{
    const ferry_model *model = opened(directory);
    const ferry_view recorded = mapped_bytes(data_file("tokenizer/targets.tsv"));
    char *lines = kept_memory(recorded.size + 1);
    size_t count = 0;
    memcpy(lines, recorded.data, recorded.size);
    for (char *line; (line = take_until(&lines, '\n')) != NULL && *line != '\0';) {
        if (strcmp(take_until(&line, '\t'), name) != 0) continue;
        const char *text = take_until(&line, '\t');
        check_ids(model, text, line);
        count++;
    }
    assert_int_equal(count, expected);
}

TEST(test_separate_models)
{
    check_recorded("marian-separate", data_file("models/marian-separate"), 65);
}

TEST(test_shared_models)
{
    static const struct {
        const char *name;
        size_t lines; /* those for which transformers' tokenizer does what SentencePiece does */
    } models[] = {{"m2m100", 65}, {"mbart50", 64}, {"nllb", 64}, {"t5", 65}, {"t5gated", 60}};
    for (size_t i = 0; i < COUNT(models); i++)
        check_recorded(models[i].name, shared_file("models/huggingface-small/%s", models[i].name), models[i].lines);
}

/* ---- every importer ---- */

#define SOURCE "models/marian-separate/source.spm"
#define TARGET "models/marian-separate/target.spm"

/* Target ids of SentencePiece's pieces. */
typedef struct lookup {
    const ferry_tokenizer_config *text;
    int32_t unk;
    int32_t ids[64];
    size_t count;
} lookup;

static ferry_status look_up(void *user, const ferry_spm_part *part)
{
    lookup *found = user;
    int32_t id = 0;
    while (id < found->text->target_count &&
           !ferry_view_equal(ferry_texts_at(found->text->target_pieces, (size_t)id), part->piece))
        id++;
    assert_true(found->count < COUNT(found->ids));
    found->ids[found->count++] = id < found->text->target_count ? id : found->unk;
    return FERRY_OK;
}

/* `unk`: the target's unknown id; `path`: the SentencePiece model that it must have. */
static void check_segmented(const ferry_model *model, const char *path, int32_t unk)
{
    static const char *const texts[] = {"Das Haus ist nicht gro\u00DF.", "Hello, my world!", "a b c yes", "\u6F22"};
    ferry_spm *spm;
    ferry_ids ids = {0};
    CHECK(ferry_spm_create(mapped_bytes(path), path, &spm, &error));
    for (size_t i = 0; i < COUNT(texts); i++) {
        lookup expected = {.text = &model->file.text, .unk = unk};
        CHECK(ferry_spm_encode(spm, text_view(texts[i]), look_up, &expected, &error));
        CHECK(encode_target(model, texts[i], &ids, NULL, &error));
        assert_int_equal(ids.count, expected.count);
        assert_memory_equal(ids.ids, expected.ids, ids.count * sizeof *ids.ids);
    }
    ferry_spm_destroy(spm);
    free(ids.ids);
}

static void refuse_target(const ferry_model *model)
{
    ferry_ids ids = {0};
    REFUSE(encode_target(model, "Hello", &ids, NULL, &error), FERRY_ERROR_UNSUPPORTED,
           "the model file has no SentencePiece model of the target side");
    assert_true(described(model, "SentencePiece, a model for the source (254 kB)"));
    size_t count;
    tokenized(model, "Hello", NULL, NULL, &count);
    assert_true(count > 1);
    free(ids.ids);
}

TEST(test_huggingface)
{
    char *directory = data_file("models/marian-separate");
    const edit no_target = {"target.spm", NULL, NULL};
    check_segmented(opened(directory), data_file(TARGET), 1);
    refuse_target(opened(variant(directory, &no_target, 1)));
    int32_t *ids, *offsets, lead;
    REFUSE(ferry_inspect_targets(opened(data_file("positions/none-pre")), &(ferry_text){"a", 1}, 1, &ids, &offsets,
                                 &lead, &error),
           FERRY_ERROR_UNSUPPORTED, "the model has no tokenizer");
}

/* Two vocabularies of pieces; the words of SentencePiece's are not among them. */
TEST(test_opus)
{
    char *folder = marian_folder(&(marian_kind){.ties = MARIAN_TIED_NONE});
    write_text(folder, "vocab.trg.txt", "a\n\u2581a\n</s>\n\u2581\n<unk>\nb\n\u2581b\n\u2581c\ny\ns\n");
    link_file(data_file(SOURCE), folder, "source.spm");
    refuse_target(opened(folder));
    link_file(data_file(TARGET), folder, "target.spm");
    const ferry_model *model = opened(folder);
    check_segmented(model, data_file(TARGET), 4);
}

TEST(test_ctranslate2)
{
    const made m = made_base();
    char *directory = made_write(&m);
    link_file(data_file(SOURCE), directory, "source.spm");
    refuse_target(opened(directory));
    link_file(data_file(TARGET), directory, "target.spm");
    check_segmented(opened(directory), data_file(TARGET), 2);
    directory = made_write(&m);
    link_file(data_file(SOURCE), directory, "sentencepiece.model");
    check_segmented(opened(directory), data_file(SOURCE), 2);
}

TEST(test_export)
{
    const edit vocabulary = {"vocab.json", NULL, "{\"</s>\": 0, \"<unk>\": 1, \"\\u2581\": 2, \"<pad>\": 96}"};
    char *directory = variant(data_file("positions/none-post"), &vocabulary, 1);
    link_file(data_file(SOURCE), directory, "source.spm");
    check_segmented(opened(directory), data_file(SOURCE), 1);
    link_file(data_file(TARGET), directory, "target.spm");
    check_segmented(opened(directory), data_file(TARGET), 1);
}

/* As Firefox has them. */
TEST(test_two_vocabularies)
{
    static const char *const files[][2] = {{"models/bergamot-en-de/model.ende.intgemm.alphas.bin", "model.ende.bin"},
                                           {"models/bergamot-en-de/vocab.ende.spm", "srcvocab.ende.spm"}};
    char *directory = scratch_directory("two-vocabularies");
    for (size_t i = 0; i < COUNT(files); i++) link_file(shared_file("%s", files[i][0]), directory, files[i][1]);
    /* The target's is the source's with another piece instead of a word that the texts have. */
    const char *source = in_directory(directory, "srcvocab.ende.spm");
    char *target = in_directory(directory, "trgvocab.ende.spm");
    const char word[] = "\u2581nicht\x15"; /* with the key of the piece's score */
    const ferry_view bytes = mapped_bytes(source);
    made_file changed = file_copy(source);
    changed.data[find_text(bytes, word) - bytes.data + (ptrdiff_t)sizeof word - 3] = 'x';
    write_bytes(target, changed.data, changed.size);
    const ferry_model *model = opened(directory);
    assert_true(model->file.text.source_pieces != model->file.text.target_pieces);
    check_segmented(model, target, 1);
}

/* ---- one tokenizer, several threads ---- */

static void *encode_one(void *model)
{
    ferry_ids ids = {0};
    CHECK(encode_target(model, "Das Haus", &ids, NULL, &error));
    free(ids.ids);
    return NULL;
}

TEST(test_first_use_by_threads)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    ferry_model *model = convert_and_open(data_file("models/marian-separate"), NULL);
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, encode_one, model), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    check_segmented(model, data_file(TARGET), 1);
    ferry_model_close(model);
}
