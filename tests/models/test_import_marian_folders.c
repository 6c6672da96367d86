/* What lies around Marian's weights: decoder.yml, vocabularies of every kind, scripts, tags, shortlists, and which
 * files of a folder make the model. */
#include "tests/support/made_marian.h"

#include <unistd.h>

#define FULL_WIDTH_COMMA "\xef\xbc\x8c"

static char *make_folder(void)
{
    return marian_folder(&(marian_kind){.ties = MARIAN_TIED_ALL});
}

static void copy_segmenter(const char *folder, const char *name)
{
    const ferry_view bytes = mapped_bytes(data_file("models/tatoeba-en-de/source.spm"));
    write_bytes(in_directory(folder, name), bytes.data, bytes.size);
}

static void rename_in(const char *folder, const char *from, const char *to)
{
    assert_int_equal(rename(in_directory(folder, from), in_directory(folder, to)), 0);
}

static void remove_in(const char *folder, const char *name)
{
    assert_int_equal(unlink(in_directory(folder, name)), 0);
}

static void check_ids(const int32_t *ids, int32_t count, const int32_t *expected, int32_t expected_count)
{
    assert_int_equal(count, expected_count);
    assert_memory_equal(ids, expected, (size_t)count * sizeof *ids);
}

/* ---- an OPUS-MT folder ---- */

static const char decoder[] = "relative-paths: true\nmodels:\n  - model.bin\nvocabs:\n  - opus.vocab.yml\n"
                              "  - opus.vocab.yml\nbeam-size: 4\nnormalize: 0.6\nword-penalty: 0.2\nmini-batch: 1\n"
                              "max-length-factor: 2.5\nskip-cost: false\nmaxi-batch-sort: src\n";

/* Ids 7 and 11 have no piece; the model has 12 rows. */
static const char vocabulary[] = "\"</s>\": 0\n\"<unk>\": 1\n\">>deu<<\": 3\n\">>fra<<\": 2\nI: 4\nyes: 5\n6: 6\n"
                                 "\"<0x0A>\": 8\n\"<0x20>\": 9\nlast: 10\n";

static char *make_opus(const char *decoder_text)
{
    char *folder = make_folder();
    remove_in(folder, "vocab.txt");
    write_text(folder, "decoder.yml", decoder_text);
    write_text(folder, "opus.vocab.yml", vocabulary);
    write_text(folder, "LICENSE", "free");
    copy_segmenter(folder, "source.spm");
    copy_segmenter(folder, "target.spm");
    return folder;
}

TEST(test_opus)
{
    static const int32_t suppressed[] = {1, 7, 8, 11}, eos[] = {0};
    char *folder = make_opus(decoder);
    write_text(folder, "preprocess.sh", "sed -e 's/" FULL_WIDTH_COMMA "/,/g' | spm_encode --model source.spm\n");
    const ferry_model_file *file = converted(folder);
    const ferry_options *decoding = &file->generation.decoding;
    const ferry_model_text *text = &file->text;
    const ferry_model_languages *languages = &text->languages;
    assert_true(has_text(file->origin.kind, "opus-mt"));
    assert_true(has_text(file->origin.license, "free"));
    assert_int_equal(decoding->beam, 4);
    assert_true(decoding->length_penalty == 0.6f && decoding->word_penalty == 0.2f);
    assert_true(decoding->length_factor == 2.5f && decoding->length_extra == 0);
    check_ids(decoding->suppressed_ids, (int32_t)decoding->suppressed_count, suppressed, 4);
    check_ids(text->special_ids, text->special_count, eos, 1);
    check_ids(text->suffix_ids, text->suffix_count, eos, 1);
    assert_true(text->opus_punctuation && text->leading_tag);
    assert_true(has_text(ferry_texts_at(text->source_pieces, 5), "yes") &&
                has_text(ferry_texts_at(text->source_pieces, 6), "6"));
    assert_int_equal(languages->count, 2);
    assert_int_equal(languages->source_tag, FERRY_TAG_NONE);
    assert_int_equal(languages->target_tag, FERRY_TAG_PREFIX);
    assert_memory_equal(ferry_texts_at(languages->names, 0).data, "fra", 3);
    assert_int_equal(languages->target_ids[0], 2);
    assert_int_equal(languages->target_ids[1], 3);
    assert_int_equal(languages->default_target, -1);
}

static bool has_punctuation(const char *script)
{
    char *folder = make_opus(decoder);
    if (script != NULL) write_text(folder, "preprocess.sh", script);
    const ferry_model_file *file = converted(folder);
    const bool found = file->text.opus_punctuation;
    return found;
}

TEST(test_scripts)
{
    assert_false(has_punctuation(NULL));
    assert_false(has_punctuation("spm_encode --model source.spm\n"));
    assert_true(has_punctuation("${MOSES}/tokenizer/replace-unicode-punctuation.perl | spm_encode\n"));
    char *folder = make_opus(decoder);
    write_text(folder, "preprocess.sh", "tokenizer.perl -l en | python apply_bpe.py -c source.bpe\n");
    refuse_source(folder, FERRY_ERROR_UNSUPPORTED, "preprocess.sh: texts prepared by 'apply_bpe'");
}

/* What may be generated: unk by allow-unk, control characters by allow-special or before 1.11. */
static void check_suppressed(const char *version, const char *lines, const int32_t *expected, int32_t count)
{
    char text[600];
    char *folder = make_opus(decoder), *path = in_directory(folder, "model.bin");
    snprintf(text, sizeof text, "%s%s", decoder, lines);
    write_text(folder, "decoder.yml", text);
    marian_write(path, &(marian_kind){.version = version});
    const ferry_model_file *file = converted(folder);
    check_ids(file->generation.decoding.suppressed_ids, (int32_t)file->generation.decoding.suppressed_count, expected,
              count);
}

TEST(test_suppressed)
{
    static const int32_t all[] = {1, 7, 8, 11}, without_unk[] = {7, 8, 11}, without_bytes[] = {1, 7, 11};
    check_suppressed("v1.11.0", "", all, 4);
    check_suppressed("v1.11.0", "allow-unk: true\n", without_unk, 3);
    check_suppressed("v1.11.0", "allow-special: true\n", without_bytes, 3);
    check_suppressed("v1.10.42", "", without_bytes, 3);
}

/* Of the bytes, those below the blank. */
TEST(test_suppressed_bytes)
{
    static const int32_t expected[] = {1, 2, 3, 4, 5, 10, 11};
    char *folder = make_opus(decoder);
    write_text(folder, "opus.vocab.yml",
               "\"</s>\": 0\n\"<unk>\": 1\n\"<0x00>\": 2\n\"<0x0F>\": 3\n\"<0x10>\": 4\n\"<0x1F>\": 5\n"
               "\"<0x20>\": 6\n\"<0x2F>\": 7\n\"<0xF0>\": 8\n\"<0x1G>\": 9\n");
    const ferry_options *decoding = &converted(folder)->generation.decoding;
    check_ids(decoding->suppressed_ids, (int32_t)decoding->suppressed_count, expected, (int32_t)COUNT(expected));
}

static void refuse_decoder(const char *from, const char *to, const char *what)
{
    char text[800];
    const char *at = strstr(decoder, from);
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - decoder), decoder, to, at + strlen(from));
    char *folder = make_opus(text);
    refuse_source(folder, FERRY_ERROR_UNSUPPORTED, what);
}

TEST(test_decoder_refused)
{
    refuse_decoder("  - model.bin\n", "  - model.bin\n  - other.bin\n", "'models' lists 2 models: ensembles");
    refuse_decoder("  - model.bin\n", "  - other.bin\n", "'models': 'other.bin' is not among the files");
    refuse_decoder("  - opus.vocab.yml\n", "", "'vocabs': expected a source and a target, found 1");
    refuse_decoder("  - opus.vocab.yml\n", "  - none.yml\n", "'vocabs': 'none.yml' is not among the files");
    refuse_decoder("skip-cost: false", "skip-cost: true", "'skip-cost: true (with a beam)' is not supported");
    refuse_decoder("mini-batch: 1", "output-sampling: [topk, 10]", "'output-sampling: topk' is not supported");
    refuse_decoder("mini-batch: 1", "force-decode: true", "'force-decode: true' is not supported");
    refuse_decoder("mini-batch: 1", "shortlist: [lex.s2t, 100]", "'shortlist': 'lex.s2t' is not among the files");
    char *folder = make_opus(decoder);
    write_text(folder, "target.bpe", "codes");
    refuse_source(folder, FERRY_ERROR_UNSUPPORTED, "'target.bpe': texts that Moses' Perl scripts");
}

/* Another machine's paths are taken by their last part. */
TEST(test_paths)
{
    char *folder = make_opus("relative-paths: false\nmodels: [/tmp/there/model.bin]\n"
                             "vocabs: [./opus.vocab.yml, /tmp/there/opus.vocab.yml]\n");
    char *other = in_directory(folder, "other.bin"); /* decoder.yml says which of two models */
    marian_write(other, &(marian_kind){.ties = MARIAN_TIED_ALL, .keys = "transformer-ffn-activation: relu\n"});
    const ferry_model_file *file = converted(folder);
    assert_int_equal(file->generation.decoding.beam, 12);
    assert_int_equal(file->transformer.encoder.activation, FERRY_SWISH);
}

/* ---- vocabularies ---- */

/* Old ones call them eos and UNK, or leave ids 0 and 1 free. */
static void check_old(const char *text, const char *name, int32_t eos, int32_t unk)
{
    char *folder = make_folder();
    remove_in(folder, "vocab.txt");
    write_text(folder, name, text);
    const ferry_model_file *file = converted(folder);
    assert_int_equal(file->generation.eos_ids[0], eos);
    assert_int_equal(file->text.source_unk_id, unk);
}

TEST(test_old_vocabularies)
{
    check_old("eos: 0\nUNK: 1\na: 2\n", "vocab.yml", 0, 1);
    check_old("a: 2\nb: 3\n", "vocab.yml", 0, 1);
    check_old("{\"a\": 0, \"b\": 1, \"<unk>\": 2, \"</s>\": 3}", "vocab.json", 3, 2);
    check_old("a\nb\n<unk>\n</s>\n", "vocab.txt", 3, 2);
    char *folder = make_folder();
    write_text(folder, "vocab.txt", "a\nb\n<unk>\n");
    refuse_source(folder, FERRY_ERROR_UNSUPPORTED, "vocab.txt: the vocabulary has no '</s>'");
}

TEST(test_two_vocabularies)
{
    char *folder = marian_folder(&(marian_kind){.ties = MARIAN_TIED_NONE});
    write_text(folder, "vocab.trg.txt", "</s>\n<unk>\nonly\n");
    const ferry_model_file *file = converted(folder);
    assert_int_equal(file->text.source_count, MARIAN_V);
    assert_int_equal(file->text.target_count, MARIAN_TARGET_V);
    assert_true(has_text(ferry_texts_at(file->text.source_pieces, 2), "p2"));
    assert_true(has_text(ferry_texts_at(file->text.target_pieces, 2), "only"));
    assert_int_equal(file->generation.decoding.suppressed_count, 1 + MARIAN_TARGET_V - 3);
    write_text(folder, "vocab.third.txt", "</s>\n");
    refuse_source(folder, FERRY_ERROR_UNSUPPORTED, "expected one vocabulary");
    remove_in(folder, "vocab.third.txt");
    rename_in(folder, "vocab.src.txt", "vocab.one.txt");
    refuse_source(folder, FERRY_ERROR_UNSUPPORTED, "expected one vocabulary");
    remove_in(folder, "vocab.one.txt");
    remove_in(folder, "vocab.trg.txt");
    refuse_source(folder, FERRY_ERROR_UNSUPPORTED, "expected vocabularies beside the model");
    write_text(folder, "vocab.fsv", "");
    refuse_source(folder, FERRY_ERROR_UNSUPPORTED, "'vocab.fsv': factored vocabularies");
}

/* ---- names ---- */

static void check_pair(const char *name, const char *vocabulary_name, const char *source, const char *target)
{
    char *folder = make_folder();
    rename_in(folder, "model.bin", name);
    rename_in(folder, "vocab.txt", vocabulary_name);
    const ferry_model_file *file = converted(folder);
    const ferry_model_languages *languages = &file->text.languages;
    assert_int_equal(languages->count, source != NULL ? 2 : 0);
    if (source != NULL) {
        assert_true(has_text(ferry_texts_at(languages->names, 0), source) &&
                    has_text(ferry_texts_at(languages->names, 1), target));
        assert_int_equal(languages->default_source, 0);
        assert_int_equal(languages->default_target, 1);
    }
}

TEST(test_pairs)
{
    check_pair("model.ende.bin", "vocab.ende.txt", "en eng", "de deu");
    check_pair("model.en-de.bin", "vocab.txt", "en eng", "de deu");
    check_pair("engdeu.best.bin", "vocab.engdeu.txt", "eng en", "deu de");
    check_pair("model.tiny.bin", "vocab.txt", NULL, NULL); /* not from Tigrinya into Nyanja */
    check_pair("model.xxde.bin", "vocab.xxde.txt", NULL, NULL);
    check_pair("model.bin", "vocab.ende.txt", NULL, NULL);
}

/* Of several models, the one that is named, with the vocabulary and the shortlist of its pair. */
TEST(test_selection)
{
    char *folder = make_folder();
    rename_in(folder, "model.bin", "model.ende.bin");
    rename_in(folder, "vocab.txt", "vocab.ende.txt");
    char *other = in_directory(folder, "model.deen.bin");
    marian_write(other, &(marian_kind){.ties = MARIAN_TIED_ALL});
    write_text(folder, "vocab.deen.txt", "</s>\n<unk>\nother\n");
    write_text(folder, "lex.ende.s2t", "p2 p3 0.5\n");
    write_text(folder, "lex.deen.s2t", "other other 0.5\n<unk> other 0.25\n");
    refuse_source(folder, FERRY_ERROR_UNSUPPORTED, "model.deen.bin, model.ende.bin");
    const ferry_model_file *file = converted(other);
    assert_true(has_text(ferry_texts_at(file->text.languages.names, 0), "de deu"));
    assert_true(has_text(ferry_texts_at(file->text.source_pieces, 2), "other"));
    const ferry_shortlist *shortlist = &file->generation.shortlist;
    assert_int_equal(shortlist->offsets[2], 0);
    assert_int_equal(shortlist->offsets[3], 2);
    assert_int_equal(shortlist->offsets[MARIAN_V], 2);
    assert_int_equal(shortlist->ids[0], 1);
    assert_int_equal(shortlist->ids[1], 2);
    assert_true(shortlist->shared);
}

/* A shortlist that decoder.yml names; a text's numbers must be the usual ones. */
TEST(test_listed_shortlist)
{
    char text[800];
    char *folder = make_opus(decoder);
    write_text(folder, "words.txt", "last I 0.5\n");
    const ferry_model_file *file = converted(folder);
    assert_null(file->generation.shortlist.offsets);
    snprintf(text, sizeof text, "%sshortlist: [words.txt, 100, 100, 0]\n", decoder);
    write_text(folder, "decoder.yml", text);
    file = converted(folder);
    assert_int_equal(file->generation.shortlist.offsets[5], 1);
    assert_int_equal(file->generation.shortlist.ids[0], 10);
    snprintf(text, sizeof text, "%sshortlist: [words.txt, 50, 50]\n", decoder);
    write_text(folder, "decoder.yml", text);
    refuse_source(folder, FERRY_ERROR_UNSUPPORTED, "'shortlist': expected the numbers 100, 100 and 0");
}
