/* Vocabularies and SentencePiece models of other models are noticed where sizes or pieces cannot belong together. */
#include "tests/support/ctranslate2_made.h"
#include "tokenizer/sentencepiece_c.h"

#define SEPARATE data_file("models/marian-separate")

/* `source` with another file in place of `name`. */
static char *with_file(const char *source, const char *name, const char *other)
{
    char *directory = variant(source, &(edit){name, NULL, NULL}, 1);
    link_file(other, directory, name);
    return directory;
}

static void refuse_file(const char *source, const char *name, const char *other, const char *what)
{
    refuse_source(with_file(source, name, other), FERRY_ERROR_FORMAT, what);
}

/* Accepted, with a note that holds `what`; NULL: with none. */
static void accept(const char *source, const char *what)
{
    const char *noted = note_of(source);
    if (what == NULL && noted != NULL) fail_msg("%s", noted);
    if (what != NULL && (noted == NULL || strstr(noted, what) == NULL)) fail_msg("expected '%s': %s", what, noted);
}

/* Two vocabularies: each side has its own, and both together are noticed. */
TEST(test_sides)
{
    const char *target = in_directory(SEPARATE, "target.spm"), *source = in_directory(SEPARATE, "source.spm");
    accept(SEPARATE, NULL);
    refuse_file(SEPARATE, "source.spm", target, "/source.spm: of its 698 pieces, 118 are among the 901 words of ");
    refuse_file(SEPARATE, "source.spm", target, "/vocab.json: one of the two is another model's");
    refuse_file(SEPARATE, "target.spm", source, "/target.spm: of its 898 pieces, 118 are among the 701 words of ");
    refuse_file(with_file(SEPARATE, "target.spm", source), "source.spm", target,
                "each has more pieces in common with the other side's vocabulary: they are swapped");
}

/* A vocabulary that lacks some pieces, or has many other words, may still be right. */
TEST(test_notes)
{
    const char *small = in_directory(SEPARATE, "source.spm");
    const char *directory = shared_file("models/tatoeba-en-de/marian");
    accept(directory, NULL);
    const char *nllb = shared_file("models/huggingface-small/nllb/sentencepiece.bpe.model");
    accept(with_file(directory, "source.spm", nllb),
           large_data() ? "/source.spm: of its 1197 pieces, 808 are among the 8000 words of "
                        : "/source.spm: of its 1197 pieces, 631 are among the 1000 words of ");
    accept(with_file(directory, "source.spm", nllb), "/vocab.yml: do they belong together?");
    /* Few pieces, which the vocabulary has nearly all of. */
    accept(with_file(with_file(directory, "target.spm", small), "source.spm", small),
           large_data() ? "of its 898 pieces, 861 are among the 8000 words of "
                        : "of its 898 pieces, 510 are among the 1000 words of ");
}

/* Where ids are SentencePiece's own, its size is that of the embeddings, but for some spare rows. */
TEST(test_sizes)
{
    const char *m2m = shared_file("models/huggingface-small/m2m100/sentencepiece.bpe.model");
    const char *mbart = shared_file("models/huggingface-small/mbart50/sentencepiece.bpe.model");
    char *student = scratch_directory("student");
    link_file(shared_file("models/bergamot-en-de/model.ende.bin"), student, "model.bin");
    link_file(m2m, student, "vocab.spm");
    refuse_source(student, FERRY_ERROR_FORMAT,
                  large_data() ? "/model.bin: it is another model's" /* else more words than rows */
                               : "/vocab.spm: 1500 words for the 1000 rows of embeddings in ");
    const char *nllb = shared_file("models/huggingface-small/nllb");
    accept(nllb, NULL);
    refuse_file(nllb, "sentencepiece.bpe.model", mbart,
                "/sentencepiece.bpe.model: 1001 words for the 1404 rows of embeddings in ");
    refuse_file(shared_file("models/huggingface-small/t5"), "spiece.model", m2m,
                "/spiece.model: 1500 words for the 1112 rows of embeddings in ");
    refuse_edit(shared_file("models/tatoeba-en-de/marian"), "vocab.yml", NULL, "{\"</s>\": 0, \"<unk>\": 1, \"a\": 2}",
                FERRY_ERROR_FORMAT,
                large_data() ? "/vocab.yml: 3 words for the 8000 rows of embeddings in "
                             : "/vocab.yml: 3 words for the 1000 rows of embeddings in ");
}

TEST(test_ctranslate2)
{
    const char *nllb = shared_file("models/ctranslate2-small/nllb-int8");
    accept(nllb, NULL);
    refuse_file(nllb, "sentencepiece.bpe.model", shared_file("models/huggingface-small/m2m100/sentencepiece.bpe.model"),
                "/sentencepiece.bpe.model: of its 1496 pieces, 676 are among the 1404 words of ");
    accept(shared_file("models/ctranslate2-small/t5-int16"), NULL);
    accept(shared_file("models/tatoeba-en-de/ctranslate2-int8"), NULL);
}

/* The pieces of a SentencePiece model, one a line. */
static const char *lines_of(const char *name)
{
    const char *path = in_directory(SEPARATE, name);
    ferry_spm *spm;
    made_file lines = {.size = 0};
    CHECK(ferry_spm_create(mapped_bytes(path), path, &spm, &error));
    for (int32_t i = 0; i < ferry_spm_count(spm); i++) {
        put_bytes(&lines, ferry_spm_piece(spm, i).data, ferry_spm_piece(spm, i).size);
        put_text(&lines, "\n");
    }
    put(&lines, 0, 1);
    ferry_spm_destroy(spm);
    return (const char *)lines.data;
}

/* Each side is compared with its own vocabulary. */
TEST(test_sides_of_ctranslate2)
{
    made m = made_base();
    made_find(&m, "encoder/embeddings_0/weight")->shape[0] = 900;
    m.config = "{\"decoder_start_token\": \"</s>\"}";
    m.vocabulary_name = "target_vocabulary.txt";
    for (int wrong = 0; wrong < 2; wrong++) {
        m.vocabulary = lines_of(wrong ? "source.spm" : "target.spm");
        made_find(&m, "decoder/embeddings/weight")->shape[0] = wrong ? 900 : 700;
        made_find(&m, "decoder/projection/weight")->shape[0] = wrong ? 900 : 700;
        char *directory = made_write(&m);
        write_text(directory, "source_vocabulary.txt", lines_of("source.spm"));
        link_file(in_directory(SEPARATE, "source.spm"), directory, "source.spm");
        link_file(in_directory(SEPARATE, "target.spm"), directory, "target.spm");
        if (!wrong) accept(directory, NULL);
        if (wrong)
            refuse_source(directory, FERRY_ERROR_FORMAT,
                          "/target.spm: of its 698 pieces, 118 are among the 900 words of ");
    }
}

/* ---- segmenters that are found by content ---- */

static char *nllb_without(const char *name, const char *other)
{
    char *directory =
        variant(shared_file("models/ctranslate2-small/nllb-int8"), &(edit){"sentencepiece.bpe.model", NULL, NULL}, 1);
    if (name != NULL) link_file(other, directory, name);
    return directory;
}

static const char marked[] = "/shared_vocabulary.json: 684 of its 1404 words have the mark '\u2581': expected a "
                             "SentencePiece model or tokenizer.json beside it; ";

/* Whatever its name; the same model as by the usual one, of which only the file that is used is an origin. */
TEST(test_segmenters_of_any_name)
{
    char *model = shared_file("models/huggingface-small/nllb/sentencepiece.bpe.model");
    const char *usual = shared_file("models/ctranslate2-small/nllb-int8");
    char *directory = nllb_without("flores200_spm", model);
    link_file(model, directory, "the.same");
    link_file(shared_file("models/huggingface-small/m2m100/sentencepiece.bpe.model"), directory, "a.model");
    write_text(directory, "b.txt", "\n no model");
    accept(directory, "flores200_spm is used to divide texts: the vocabulary has its pieces");
    const ferry_model_file *file = converted(directory), *expected = converted(usual);
    assert_int_equal(file->origin.file_count, 4);
    check_file_keys(file, "tokenizer.kind sentencepiece; tokenizer.source.suffix_ids 2; languages.source_tag prefix");
    assert_true(ferry_view_equal(file->text.source_model, expected->text.source_model));
    assert_true(ferry_view_equal(file->text.target_model, file->text.source_model));
    check_same_tensors(file, expected);
}

/* Sources of Hugging Face's converters have an end that config.json does not say; those of OpenNMT's, and Argos', not.
 */
TEST(test_ends_of_found_segmenters)
{
    static const char start[] = "\"decoder_start_token\": \"</s>\"", opennmt[] = "\"decoder_start_token\": \"<s>\"";
    char *directory = nllb_without("x.spm", shared_file("models/huggingface-small/nllb/sentencepiece.bpe.model"));
    apply_edit(directory, &(edit){"config.json", start, opennmt});
    check_file_keys(converted(directory), "tokenizer.kind sentencepiece; tokenizer.source.suffix_ids ");
    apply_edit(directory, &(edit){"config.json", opennmt, start});
    write_text(directory, "metadata.json", "{\"from_code\": \"en\", \"to_code\": \"de\"}");
    check_file_keys(converted(directory), "tokenizer.kind sentencepiece; tokenizer.source.suffix_ids ");
    directory = variant(shared_file("models/ctranslate2-small/t5-int16"), &(edit){"spiece.model", NULL, NULL}, 1);
    link_file(shared_file("models/huggingface-small/t5/spiece.model"), directory, "x.spm");
    check_file_keys(converted(directory), "tokenizer.kind sentencepiece; tokenizer.source.suffix_ids 1");
}

/* Its template has a tag, which goes where CTranslate2's own rule of tags has it, and the end of sentence. */
TEST(test_tokenizer_json_beside_ctranslate2)
{
    size_t count, expected_count;
    char *directory = nllb_without("tokenizer.json", shared_file("models/huggingface-small/nllb/tokenizer.json"));
    accept(directory, "tokenizer.json is used to divide texts: the vocabulary has its pieces");
    check_file_keys(converted(directory), "tokenizer.kind bpe; tokenizer.source.prefix_ids ; "
                                          "tokenizer.source.suffix_ids 2; languages.source_tag prefix");
    const int32_t *expected = tokenized(opened(shared_file("models/ctranslate2-small/nllb-int8")), "Hello, world!",
                                        "en", "de", &expected_count);
    const int32_t *ids = tokenized(opened(directory), "Hello, world!", "en", "de", &count);
    assert_int_equal(count, expected_count);
    assert_memory_equal(ids, expected, count * sizeof *ids);
    apply_edit(directory, &(edit){"config.json", "\"add_source_eos\": false", "\"add_source_eos\": true"});
    check_file_keys(converted(directory), "tokenizer.source.suffix_ids 2");
    apply_edit(directory, &(edit){"shared_vocabulary.json", "\"\\u2581Haus\"", "\"\\u2581Hans\""});
    refuse_source(directory, FERRY_ERROR_UNSUPPORTED, marked);
    refuse_source(directory, FERRY_ERROR_UNSUPPORTED, " is '\u2581Haus', and '\u2581Hans' in the vocabulary");
}

TEST(test_missing_segmenters)
{
    char *m2m = shared_file("models/huggingface-small/m2m100/sentencepiece.bpe.model");
    refuse_source(nllb_without(NULL, NULL), FERRY_ERROR_UNSUPPORTED, marked);
    refuse_source(nllb_without("x.spm", m2m), FERRY_ERROR_UNSUPPORTED, marked);
    refuse_source(nllb_without("x.spm", m2m), FERRY_ERROR_UNSUPPORTED,
                  "; x.spm: 45 % of the pieces are words, and 48 % of the words pieces");
    char *directory = nllb_without(NULL, NULL);
    write_text(directory, "x.spm", "version https://git-lfs.github.com/spec/v1\n");
    write_text(directory, "y.spm", "\n no model");
    refuse_source(directory, FERRY_ERROR_UNSUPPORTED, "/x.spm: this is a Git LFS pointer");
    write_text(directory, "x.spm", "");
    refuse_source(directory, FERRY_ERROR_UNSUPPORTED, "beside it; y.spm: ");
    /* Two that fit, and are not the same. */
    char *source = variant(shared_file("models/tatoeba-en-de/ctranslate2-int8"), &(edit){"source.spm", NULL, NULL}, 1);
    made_file other = file_copy(in_directory(source, "target.spm"));
    other.data[find_text((ferry_view){(char *)other.data, other.size}, "er\x15") - (char *)other.data] =
        'x'; /* a piece */
    write_bytes(in_directory(source, "de.model"), other.data, other.size);
    refuse_source(source, FERRY_ERROR_UNSUPPORTED, "; name those of both sides source.spm and target.spm; ");
    /* Of Marian's archives, too; a model that only segments has no ids. */
    source = variant(shared_file("models/tatoeba-en-de/marian"), &(edit){"source.spm", NULL, NULL}, 1);
    accept(source, "target.spm is used to divide texts");
    apply_edit(source, &(edit){"target.spm", NULL, NULL});
    refuse_source(source, FERRY_ERROR_UNSUPPORTED, "have the mark '\u2581'");
}
