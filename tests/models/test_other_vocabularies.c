/* Vocabularies and SentencePiece models of other models are noticed where sizes or pieces cannot belong together. */
#include "tests/support/import_support.h"

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
