/* Which languages a model translates where its files do not say so: what its name says, and what the user says. */
#include "tests/support/made_marian.h"

#include "base/system.h"
#include "tools/system/folders.h"

static char *folder; /* of a small Marian model that names no languages */

static char *found; /* what was noted */

static void note(void *user, const char *message)
{
    (void)user;
    found = kept_memory(300);
    snprintf(found, 300, "%s", message);
}

static const char english_german[] = "translates from 'en' into 'de', as its name says; the option pair overrides it";

/* The names of the two languages: "en eng, de deu"; "": none. What was noted, or NULL, is in `found`. */
static void check_languages(const char *source, const char *pair, const char *expected)
{
    const ferry_import_options options = {.type = FERRY_F32, .pair = pair, .noted = note};
    found = NULL;
    const ferry_model_languages *languages = &converted_with(source, &options)->languages;
    char text[200] = "";
    if (languages->count > 0) {
        const ferry_view a = ferry_texts_at(languages->names, (size_t)languages->default_source),
                         b = ferry_texts_at(languages->names, (size_t)languages->default_target);
        snprintf(text, sizeof text, "%.*s, %.*s", (int)a.size, a.data, (int)b.size, b.data);
    }
    assert_string_equal(text, expected);
}

static void refuse_pair(const char *source, const char *pair, ferry_status status, const char *what)
{
    REFUSE(ferry_import(source, scratch_file("refused.gguf"), &(ferry_import_options){.pair = pair}, &error), status,
           what);
}

/* The model in a new folder of that name. */
static char *copied(const char *name, const char *weights)
{
    static char *parent;
    if (parent == NULL) parent = scratch_directory("pairs");
    char *copy = in_directory(parent, name);
    assert_true(ferry_folder_create_private(copy));
    if (folder == NULL) folder = marian_folder(&(marian_kind){.ties = MARIAN_TIED_ALL});
    const ferry_view bytes = mapped_bytes(in_directory(folder, "model.bin"));
    write_bytes(in_directory(copy, weights), bytes.data, bytes.size);
    link_file(in_directory(folder, "vocab.txt"), copy, "vocab.txt");
    return copy;
}

TEST(test_names_that_say_it)
{
    static const char *const names[][2] = {{"opus-mt-en-de", "en eng, de deu"},
                                           {"opus-mt-tc-big-tr-en", "tr tur, en eng"},
                                           {"opus-mt-fr-mt", "fr fra, mt mlt"},
                                           {"tatoeba_eng_deu", "eng en, deu de"},
                                           {"translate-en_it-1_9.argosmodel", "en eng, it ita"},
                                           {"is-de", "is isl, de deu"},
                                           {"am-de", "am amh, de deu"},
                                           {"en-so", "en eng, so som"},
                                           {"opus-mt-en-de-v2", "en eng, de deu"},
                                           {"en-de.", "en eng, de deu"},
                                           {"b-c-d-e-f-g-h-j-k-l-m-n-p-q-en-de", "en eng, de deu"},
                                           {"de-en.2020-02-26", "de deu, en eng"}};
    for (size_t i = 0; i < COUNT(names); i++) {
        char *source = copied(names[i][0], "model.bin");
        check_languages(source, NULL, names[i][1]);
        assert_non_null(found);
        check_languages(in_directory(source, "model.bin"), NULL, names[i][1]);
    }
    char *source = copied("files", "model.en-de.bin");
    check_languages(source, NULL, "en eng, de deu");
    assert_string_equal(found, english_german);
}

TEST(test_names_that_do_not)
{
    static const char *const names[] = {"model",    "en",           "english-german", "so-it", "opus-mt-my-en-de",
                                        "de-de",    "en-de-fr",     "en-de-student",  "tiny",  "en-xx",
                                        "my-is-it", "am-to",        "2020-02-26",     "ende",  "en--de",
                                        "en-de-v",  "big-mt-en-de", "opus-de-en-de"};
    const char *const seventeen = "a-b-c-d-e-f-g-h-j-k-l-m-n-p-q-en-de";
    for (size_t i = 0; i < COUNT(names); i++) {
        check_languages(copied(names[i], "model.bin"), NULL, "");
        assert_null(found);
    }
    check_languages(copied(seventeen, "model.bin"), NULL, "");
    check_languages(copied("best-model", "model.best.bin"), NULL, "");
}

TEST(test_pair)
{
    char *source = copied("pair-en-de", "model.bin");
    check_languages(source, "hsb-de", "hsb, de deu");
    assert_null(found);
    check_languages(source, "ZU-AF", "ZU zul, AF afr");
    static const char *const wrong[] = {"", "en", "-", "en-", "-de", "en-de-fr"};
    for (size_t i = 0; i < COUNT(wrong); i++)
        refuse_pair(source, wrong[i], FERRY_ERROR_ARGUMENT, "pair: expected SOURCE-TARGET, such as en-de, found '");
    refuse_pair(source, "en-d e", FERRY_ERROR_FORMAT, "expected the tag of a language, found 'd e'");
    refuse_pair(data_file("positions/none-pre"), "en-de", FERRY_ERROR_UNSUPPORTED,
                "none-pre: a model without a tokenizer has no languages");
}

/* Of a model file; its name does not count, because what it holds is its own. */
TEST(test_pair_of_a_model_file)
{
    char *plain = in_directory(scratch_directory("kept"), "opus-mt-fr-es.gguf");
    CHECK(ferry_import(copied("nameless", "model.bin"), plain, NULL, &error));
    check_languages(plain, NULL, "");
    assert_null(found);
    char *paired = scratch_file("paired.gguf");
    CHECK(ferry_import(plain, paired, &(ferry_import_options){.pair = "en-de"}, &error));
    check_languages(paired, NULL, "en eng, de deu");
    check_languages(paired, "de-en", "de deu, en eng");
}

/* A model that lists its languages with their tags gets defaults among them. */
TEST(test_defaults)
{
    const char *source = shared_file("models/huggingface-small/nllb");
    check_languages(source, "en-de", "eng_Latn en eng, deu_Latn de deu");
    check_languages(source, "zho_Hant-FRA", "zho_Hant, fra_Latn fr fra");
    static const char *const wrong[] = {"en-xx", "xx-en", "en-en", "en"};
    for (size_t i = 0; i < COUNT(wrong); i++)
        refuse_pair(source, wrong[i], FERRY_ERROR_ARGUMENT,
                    "pair: expected two of the model's 202 languages with a hyphen between them, such");
    const char *prompts = shared_file("models/huggingface-small/t5");
    check_languages(prompts, "en-de", "en eng, de deu");
    refuse_pair(prompts, "de-en", FERRY_ERROR_ARGUMENT, "pair: expected two of the model's 2 languages");
}
