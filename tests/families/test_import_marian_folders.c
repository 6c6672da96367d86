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
    char *folder = make_opus(decoder);
    write_text(folder, "preprocess.sh", "sed -e 's/" FULL_WIDTH_COMMA "/,/g' | spm_encode --model source.spm\n");
    check_file_keys(converted(folder),
                    "origin.kind opus-mt; origin.licence free; decoding.beam 4; decoding.length_penalty 0.6; "
                    "decoding.word_penalty 0.2; decoding.length_factor 2.5; decoding.length_extra 0; "
                    "decoding.suppressed_ids 1 7 8 11; tokenizer.target.special_ids 0; tokenizer.source.suffix_ids 0; "
                    "tokenizer.source.opus_punctuation true; tokenizer.source.leading_tag true; "
                    "tokenizer.source.pieces </s>|<unk>|>>fra<<|>>deu<<|I|yes|6||<0x0A>|<0x20>|last|; "
                    "languages.names fra fr|deu de; languages.source_tag none; languages.target_tag prefix; "
                    "languages.target_ids 2 3; languages.default_target -1");
}

/* Scripts that only segment, or also replace punctuation; and those whose other steps are not known. */
TEST(test_scripts)
{
    static const char *const scripts[] = {"spm_encode --model source.spm\n",
                                          "${MOSES}/tokenizer/replace-unicode-punctuation.perl | spm_encode\n"};
    static const char *const refused[] = {"apply_bpe", "apply-bpe", "normalize-punctuation.perl", "tokenizer.perl",
                                          "truecase.perl"};
    char *folder = make_opus(decoder), text[100], message[100];
    check_file_keys(converted(folder), "tokenizer.source.opus_punctuation false");
    for (int i = 0; i < 2; i++) {
        write_text(folder, "preprocess.sh", scripts[i]);
        check_file_keys(converted(folder),
                        i == 0 ? "tokenizer.source.opus_punctuation false" : "tokenizer.source.opus_punctuation true");
    }
    for (size_t i = 0; i < COUNT(refused); i++) {
        snprintf(text, sizeof text, "cat | %s -l en | spm_encode\n", refused[i]);
        snprintf(message, sizeof message, "preprocess.sh: texts prepared by '%s'", refused[i]);
        write_text(folder, "preprocess.sh", text);
        refuse_source(folder, FERRY_ERROR_UNSUPPORTED, message);
    }
}

/* What may be generated: unk by allow-unk, control characters by allow-special or before 1.11. */
static void check_suppressed(const char *version, const char *lines, const char *keys)
{
    char text[600];
    char *folder = make_opus(decoder), *path = in_directory(folder, "model.bin");
    snprintf(text, sizeof text, "%s%s", decoder, lines);
    write_text(folder, "decoder.yml", text);
    marian_write(path, &(marian_kind){.version = version});
    check_file_keys(converted(folder), keys);
}

TEST(test_suppressed)
{
    check_suppressed("v1.11.0", "", "decoding.suppressed_ids 1 7 8 11");
    check_suppressed("v1.11.0", "allow-unk: true\n", "decoding.suppressed_ids 7 8 11");
    check_suppressed("v1.11.0", "allow-special: true\n", "decoding.suppressed_ids 1 7 11");
    check_suppressed("v1.10.42", "", "decoding.suppressed_ids 1 7 11");
}

/* Of the bytes, those below the blank. */
TEST(test_suppressed_bytes)
{
    char *folder = make_opus(decoder);
    write_text(folder, "opus.vocab.yml",
               "\"</s>\": 0\n\"<unk>\": 1\n\"<0x00>\": 2\n\"<0x0F>\": 3\n\"<0x10>\": 4\n\"<0x1F>\": 5\n"
               "\"<0x20>\": 6\n\"<0x2F>\": 7\n\"<0xF0>\": 8\n\"<0x1G>\": 9\n");
    check_file_keys(converted(folder), "decoding.suppressed_ids 1 2 3 4 5 10 11");
}

/* decoder.yml with other lines instead of one. */
static char *with_decoder(const char *from, const char *to)
{
    char text[800];
    const char *at = strstr(decoder, from);
    assert_non_null(at);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - decoder), decoder, to, at + strlen(from));
    return make_opus(text);
}

TEST(test_decoder_refused)
{
    static const char *const rows[][3] = {
        {"  - model.bin\n", "  - model.bin\n  - other.bin\n", "'models' lists 2 models: ensembles"},
        {"  - model.bin\n", "  - other.bin\n", "'models': 'other.bin' is not among the files"},
        {"  - opus.vocab.yml\n", "", "'vocabs': expected a source and a target, found 1"},
        {"  - opus.vocab.yml\n", "  - source.spm\n", "vocabularies of two kinds: 'source.spm', 'opus.vocab.yml'"},
        {"  - opus.vocab.yml\n", "  - none.yml\n", "'vocabs': 'none.yml' is not among the files"},
        {"skip-cost: false", "skip-cost: true", "'skip-cost: true (with a beam)' is not supported"},
        {"mini-batch: 1", "output-sampling: [topk, 10]", "'output-sampling: topk' is not supported"},
        {"mini-batch: 1", "force-decode: true", "'force-decode: true' is not supported"},
        {"mini-batch: 1", "no-spm-encode: true", "'no-spm-encode: true' is not supported"},
        {"mini-batch: 1", "no-spm-decode: true", "'no-spm-decode: true' is not supported"},
        {"mini-batch: 1", "shortlist: [lex.s2t, 100]", "'shortlist': 'lex.s2t' is not among the files"},
    };
    static const char *const files[] = {"source.bpe", "source.bpe.model", "target.bpe", "target.bpe.model"};
    char message[100];
    for (size_t i = 0; i < COUNT(rows); i++)
        refuse_source(with_decoder(rows[i][0], rows[i][1]), FERRY_ERROR_UNSUPPORTED, rows[i][2]);
    for (size_t i = 0; i < COUNT(files); i++) {
        char *folder = make_opus(decoder);
        write_text(folder, files[i], "codes");
        snprintf(message, sizeof message, "'%s': texts that Moses' Perl scripts", files[i]);
        refuse_source(folder, FERRY_ERROR_UNSUPPORTED, message);
    }
}

/* Switches that are off, a beam on its bound, and a cost that is skipped where nothing is chosen by it. */
TEST(test_decoder)
{
    static const char *const rows[][3] = {
        {"mini-batch: 1", "output-sampling: false\nforce-decode: false\nno-spm-encode: []", "decoding.beam 4"},
        {"beam-size: 4", "beam-size: 64", "decoding.beam 64"},
        {"beam-size: 4\nnormalize: 0.6\nword-penalty: 0.2\nmini-batch: 1\nmax-length-factor: 2.5\nskip-cost: false",
         "beam-size: 1\nskip-cost: true",
         "decoding.beam 1; decoding.length_penalty 0; decoding.word_penalty 0; decoding.length_factor 3"},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        check_file_keys(converted(with_decoder(rows[i][0], rows[i][1])), rows[i][2]);
    refuse_source(with_decoder("beam-size: 4", "beam-size: 65"), FERRY_ERROR_FORMAT, "expected 1 to 64, found 65");
    /* What training writes beside the weights counts more. */
    char *folder = make_opus(decoder);
    write_text(folder, "model.bin.decoder.yml", "beam-size: 7\nvocabs: [opus.vocab.yml, opus.vocab.yml]\n");
    check_file_keys(converted(in_directory(folder, "model.bin")), "decoding.beam 7");
    remove_in(folder, "decoder.yml");
    check_file_keys(converted(folder), "decoding.beam 7");
}

/* Another machine's paths are taken by their last part. */
TEST(test_paths)
{
    char *folder = make_opus("relative-paths: false\nmodels: [/tmp/there/model.bin]\n"
                             "vocabs: [./opus.vocab.yml, /tmp/there/opus.vocab.yml]\n");
    char *other = in_directory(folder, "other.bin"); /* decoder.yml says which of two models */
    marian_write(other, &(marian_kind){.ties = MARIAN_TIED_ALL, .keys = "transformer-ffn-activation: relu\n"});
    check_file_keys(converted(folder), "decoding.beam 12; encoder.activation swish");
}

/* ---- vocabularies ---- */

/* A folder whose only vocabulary, for both sides, is this text. */
static char *with_vocabulary(const char *name, const char *text)
{
    char *folder = make_folder();
    remove_in(folder, "vocab.txt");
    write_text(folder, name, text);
    return folder;
}

/* Old ones call them eos and UNK, or leave ids 0 and 1 free. */
TEST(test_old_vocabularies)
{
    static const char *const rows[][3] = {
        {"vocab.yml", "eos: 0\nUNK: 1\na: 2\n", "eos_ids 0; tokenizer.source.unk_id 1"},
        {"vocab.yaml", "a: 2\nb: 3\n", "eos_ids 0; tokenizer.source.unk_id 1"},
        {"vocab.yml", "a: 0\nUNK: 1\n</s>: 2\n", "eos_ids 2; tokenizer.source.unk_id 1"},
        {"vocab.yml", "eos: 0\na: 1\n<unk>: 2\n", "eos_ids 0; tokenizer.source.unk_id 2"},
        {"vocab.json", "{\"a\": 0, \"b\": 1, \"<unk>\": 2, \"</s>\": 3}", "eos_ids 3; tokenizer.source.unk_id 2"},
        {"vocab.txt", "a\nb\n<unk>\n</s>\n", "eos_ids 3; tokenizer.source.unk_id 2"},
        {"vocabulary", "<unk>\n</s>\n", "eos_ids 1; tokenizer.source.unk_id 0"},
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        check_file_keys(converted(with_vocabulary(rows[i][0], rows[i][1])), rows[i][2]);
    refuse_source(with_vocabulary("vocab.txt", "a\nb\n<unk>\n"), FERRY_ERROR_UNSUPPORTED,
                  "vocab.txt: the vocabulary has no '</s>'");
    refuse_source(with_vocabulary("vocab.txt", "a\nb\n</s>\n"), FERRY_ERROR_UNSUPPORTED,
                  "vocab.txt: the vocabulary has no '<unk>'");
    refuse_source(with_vocabulary("vocab.fsv", ""), FERRY_ERROR_UNSUPPORTED, "'vocab.fsv': factored vocabularies");
    refuse_source(with_vocabulary("words.txt", ""), FERRY_ERROR_UNSUPPORTED, "expected vocabularies beside the model");
}

/* OPUS-MT's source.spm only segments, and so does what has other special ids than Marian's. */
TEST(test_segmenters_for_vocabularies)
{
    static const char *const names[] = {"vocab.spm", "ende.spm", "source.spm", "target.spm", "ende.spm"};
    enum { END = 15, UNKNOWN = 16 }; /* bytes of the first two pieces */
    const ferry_view spm = mapped_bytes(shared_file("models/bergamot-en-de/vocab.ende.spm"));
    made_file swapped = {.size = 0};
    put_bytes(&swapped, spm.data + END, UNKNOWN);
    put_bytes(&swapped, spm.data, END);
    put_bytes(&swapped, spm.data + END + UNKNOWN, spm.size - END - UNKNOWN);
    for (size_t i = 0; i < COUNT(names); i++) {
        char *folder = scratch_directory(ferry_name_format("guess-%zu", i).text);
        link_file(shared_file("models/bergamot-en-de/model.ende.npz"), folder, "model.npz");
        write_bytes(in_directory(folder, names[i]), i < 4 ? spm.data : (const char *)swapped.data, spm.size);
        if (i < 2) check_file_keys(converted(folder), "eos_ids 0; tokenizer.kind sentencepiece");
        if (i >= 2)
            refuse_source(folder, FERRY_ERROR_UNSUPPORTED,
                          ferry_name_format("/%s: a SentencePiece model that only divides texts", names[i]).text);
    }
}

/* Names of two vocabularies, the source's first; ids past a file's lines have no piece. */
TEST(test_two_vocabularies)
{
    static const char *const names[][2] = {{"vocab.src.txt", "vocab.trg.txt"},
                                           {"srcvocab.txt", "tgtvocab.txt"},
                                           {"vocab-source", "vocab-target"},
                                           {"vocab.source.txt", "vocab.to.trg.txt"}};
    static const char *const refused[][2] = {{"vocab.one.txt", "vocab.trg.txt"},
                                             {"vocab.src.txt", "vocab.two.txt"},
                                             {"vocab.src.trg.txt", "vocab.trg.txt"}};
    for (size_t i = 0; i < COUNT(names) + COUNT(refused); i++) {
        const char *const *pair = i < COUNT(names) ? names[i] : refused[i - COUNT(names)];
        char *folder = marian_folder(&(marian_kind){.ties = MARIAN_TIED_NONE});
        rename_in(folder, "vocab.src.txt", pair[0]);
        remove_in(folder, "vocab.trg.txt");
        write_text(folder, pair[1], "</s>\n<unk>\nonly\n");
        if (i < COUNT(names))
            check_file_keys(converted(folder), "tokenizer.source.pieces </s>|<unk>|p2|p3|p4|p5|p6|p7|p8|p9|p10|p11; "
                                               "tokenizer.target.pieces </s>|<unk>|only|||||||; "
                                               "decoding.suppressed_ids 1 3 4 5 6 7 8 9");
        else
            refuse_source(folder, FERRY_ERROR_UNSUPPORTED, "expected one vocabulary");
        write_text(folder, "vocab.third.txt", "</s>\n");
        refuse_source(folder, FERRY_ERROR_UNSUPPORTED, "expected one vocabulary");
    }
}

/* ---- names ---- */

/* Names of the weights, of the vocabulary and of the shortlist. "best" and "tiny" could be pairs, too. */
TEST(test_pairs)
{
    static const char *const rows[][4] = {
        {"model.ende.bin", "vocab.ende.txt", NULL, "en eng|de deu"},
        {"model.ende.bin", "vocab.txt", "lex.ende.s2t", "en eng|de deu"},
        {"model.ende.bin", "vocab.txt", "lex.s2t", "absent"},
        {"model.ende.bin", "vocab.deen.txt", NULL, "absent"},
        {"model.en-de.bin", "vocab.txt", NULL, "en eng|de deu"},
        {"model.en_deu.bin", "vocab.txt", NULL, "en eng|deu de"},
        {"eng-de.npz.bin", "vocab.txt", NULL, "eng en|de deu"},
        {"model.en.de.bin", "vocab.txt", NULL, "absent"},
        {"model.en+de.bin", "vocab.txt", NULL, "absent"},
        {"engdeu.best.bin", "vocab.engdeu.txt", NULL, "eng en|deu de"},
        {"model.tiny.bin", "vocab.txt", NULL, "absent"}, /* not from Tigrinya into Nyanja */
        {"model.xxde.bin", "vocab.xxde.txt", NULL, "absent"},
        {"model.bin", "vocab.ende.txt", NULL, "absent"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *folder = make_folder();
        rename_in(folder, "model.bin", rows[i][0]);
        rename_in(folder, "vocab.txt", rows[i][1]);
        if (rows[i][2] != NULL) write_text(folder, rows[i][2], "p2 p3 0.5\n");
        write_text(folder, "model.optimizer.npz", "no weights");
        write_text(folder, "qualityModel.bin", "no weights");
        const ferry_model_file *file = converted(folder);
        check_file_keys(file, ferry_name_format("languages.names %s", rows[i][3]).text);
        if (strcmp(rows[i][3], "absent") != 0)
            check_file_keys(file, "languages.default_source 0; languages.default_target 1");
    }
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
    assert_true(has_text(ferry_texts_at(file->languages.names, 0), "de deu"));
    assert_true(has_text(ferry_texts_at(file->text.source_pieces, 2), "other"));
    const ferry_shortlist *shortlist = &file->generation.shortlist;
    assert_int_equal(shortlist->offsets[2], 0);
    assert_int_equal(shortlist->offsets[3], 2);
    assert_int_equal(shortlist->offsets[MARIAN_V], 2);
    assert_int_equal(shortlist->ids[0], 1);
    assert_int_equal(shortlist->ids[1], 2);
    assert_true(shortlist->shared);
}

/* Without decoder.yml, a shortlist makes a student; it is the only one of its kind, and not empty. */
TEST(test_shortlists)
{
    char *folder = make_folder();
    check_file_keys(converted(folder), "origin.kind marian; decoding.beam 12; shortlist.first absent");
    write_text(folder, "lex.one.s2t", "p2 p3 0.5\n");
    check_file_keys(converted(folder), "origin.kind bergamot; decoding.beam 1; shortlist.first 12");
    write_text(folder, "lex.two.s2t", "p2 p3 0.5\n");
    refuse_source(folder, FERRY_ERROR_UNSUPPORTED, "several shortlists: 'lex.one.s2t', 'lex.two.s2t'");
    write_text(folder, "lex.bin", "no lexicon, but of the kind that counts first");
    refuse_source(folder, ANY_ERROR, "lex.bin");
    remove_in(folder, "lex.bin");
    remove_in(folder, "lex.two.s2t");
    write_text(folder, "lex.one.s2t", "");
    refuse_source(folder, FERRY_ERROR_FORMAT, "lex.one.s2t: 0 words are no shortlist");
    folder = marian_folder(&(marian_kind){.ties = MARIAN_TIED_NONE});
    write_text(folder, "lex.s2t", "p2 p3 0.5\n");
    check_file_keys(converted(folder), "shortlist.shared false; shortlist.first 10");
}

/* A shortlist that decoder.yml names; a text's numbers must be the usual ones, as far as there are any. */
TEST(test_listed_shortlist)
{
    static const char *const rows[][2] = {{"[words.txt, 100, 100, 0]", NULL},
                                          {"[words.txt, 100]", NULL},
                                          {"[words.txt, 100, 100, 0, 7]", NULL},
                                          {"words.txt", NULL},
                                          {"[words.txt, 50, 100, 0]", "found '50'"},
                                          {"[words.txt, 100, 99, 0]", "found '99'"},
                                          {"[words.txt, 100, 100, 0.1]", "found '0.1'"},
                                          {"[words.txt, some]", "found 'some'"}};
    char text[800], *folder = make_opus(decoder);
    write_text(folder, "words.txt", "last I 0.5\n");
    write_text(folder, "lex.s2t", "last I 0.5\n");
    check_file_keys(converted(folder), "shortlist.first absent"); /* only what is listed */
    for (size_t i = 0; i < COUNT(rows); i++) {
        snprintf(text, sizeof text, "%sshortlist: %s\n", decoder, rows[i][0]);
        write_text(folder, "decoder.yml", text);
        if (rows[i][1] != NULL) {
            refuse_source(folder, FERRY_ERROR_UNSUPPORTED, "'shortlist': expected the numbers 100, 100 and 0");
            refuse_source(folder, FERRY_ERROR_UNSUPPORTED, rows[i][1]);
            continue;
        }
        const ferry_shortlist *shortlist = &converted(folder)->generation.shortlist;
        assert_int_equal(shortlist->offsets[5], 1);
        assert_int_equal(shortlist->ids[0], 10);
    }
}
