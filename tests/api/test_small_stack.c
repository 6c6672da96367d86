/* Everything that an application does runs on a thread with a stack of 128 kB, musl's default, on every ISA. */
#define _GNU_SOURCE
#include "tests/support/support.h"
#include "tests/support/sanitized.h"

#include <limits.h>
#include <pthread.h>

#include "engine/kernels/kernels.h"
#include "models/convert.h"

#ifdef SANITIZED
enum { STACK_BYTES = 1 << 20 }; /* their frames are larger */
#else
enum { STACK_BYTES = 128 << 10 };
#endif

typedef struct use {
    const char *path, *isa;
    int32_t beam, threads;
    ferry_error error;
    ferry_status status;
} use;

static ferry_status translate(const use *u, const ferry_model *model, ferry_error *error)
{
    static const char line[] = "The early bird gets the worm, but the second mouse gets the cheese, and nobody asks.";
    ferry_text lines[70]; /* more rows than any tile or block has */
    ferry_translator *translator;
    ferry_result *result;
    ferry_options options;
    for (size_t i = 0; i < 70; i++) lines[i] = (ferry_text){line, sizeof line - 1 - i};
    ferry_status status = ferry_options_default(model, &options, sizeof options);
    options.beam = u->beam;
    options.threads = u->threads;
    options.batch = 70;
    if (status == FERRY_OK) status = ferry_translator_create(model, &options, &translator, error);
    if (status != FERRY_OK) return status;
    status = ferry_translate(translator, lines, 70, &result, error);
    if (status == FERRY_OK) ferry_result_destroy(result);
    ferry_translator_destroy(translator);
    return status;
}

static void *use_it(void *user)
{
    use *u = user;
    ferry_model *model;
    u->status = ferry_inspect_open(u->path, u->isa, NULL, &model, &u->error);
    if (u->status != FERRY_OK) return NULL;
    u->status = translate(u, model, &u->error);
    ferry_model_close(model);
    return NULL;
}

static void check(use u)
{
    pthread_attr_t attributes;
    pthread_t thread;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, STACK_BYTES), 0);
    assert_int_equal(pthread_create(&thread, &attributes, use_it, &u), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attributes);
    if (u.status != FERRY_OK) fail_msg("%s on %s: %s", u.path, u.isa, u.error.message);
}

TEST(test_a_small_stack_suffices)
{
    const char *paths[] = {FERRY_SOURCE_DIR "/models/pretrained/tatoeba-en-de.gguf", scratch_file("floats.gguf")};
    const ferry_import_options floats = {.type = FERRY_F32};
    CHECK(ferry_import(data_file("models/marian-separate"), paths[1], &floats, &error));
    for (const ferry_kernels *const *k = ferry_kernels_available(); *k != NULL; k++)
        for (int i = 0; i < 4; i++)
            check((use){.path = paths[i / 2], .isa = (*k)->isa, .beam = 1 + i % 2 * 3, .threads = 1 + i % 2});
}
