/* The shared library, loaded and unloaded again and again, with and without a translation between: it goes, and no byte
 * stays in use. */
#define _GNU_SOURCE
#include "tests/support/support.h"

#include <dlfcn.h>
#include <malloc.h>
#include <unistd.h>

#define IN(library, function) ((__typeof__(&function))dlsym(library, #function))

/* The C library's caches, which count as used, are off only in a process that begins so. */
__attribute__((constructor)) static void begin_without_caches(int argc, char **argv)
{
    (void)argc;
    if (getenv("GLIBC_TUNABLES") != NULL) return;
    setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1", 1);
    execv("/proc/self/exe", argv);
    abort();
}

static void translate(void *library)
{
    static const ferry_text line = {"Good morning!", 13};
    ferry_model *model;
    ferry_options options;
    ferry_translator *translator;
    ferry_result *result;
    const char *path = FERRY_SOURCE_DIR "/models/pretrained/tatoeba-en-de.gguf";
    CHECK(IN(library, ferry_model_open)(path, 0, &model, &error));
    assert_int_equal(IN(library, ferry_options_default)(model, &options, sizeof options), FERRY_OK);
    options.threads = 2;
    CHECK(IN(library, ferry_translator_create)(model, &options, &translator, &error));
    CHECK(IN(library, ferry_translate)(translator, &line, 1, &result, &error));
    assert_text_is(IN(library, ferry_result_text)(result, 0, 0), "Guten Morgen!");
    IN(library, ferry_result_destroy)(result);
    IN(library, ferry_translator_destroy)(translator);
    IN(library, ferry_model_close)(model);
}

static void load(void (*use)(void *library))
{
    void *library = dlopen(FERRY_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) fail_msg("%s", dlerror());
    use(library);
    assert_int_equal(dlclose(library), 0);
    assert_null(dlopen(FERRY_LIBRARY, RTLD_NOW | RTLD_NOLOAD));
}

static size_t bytes_in_use(void)
{
    const struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

static void check_loading(int times, void (*use)(void *library))
{
    for (int i = 0; i < 3; i++) load(use); /* the loader keeps something of the first times */
    const size_t before = bytes_in_use();
    for (int i = 0; i < times; i++) load(use);
    assert_int_equal(bytes_in_use(), before);
}

static void do_nothing(void *library)
{
    (void)library;
}

TEST(test_without_a_call)
{
    check_loading(200, do_nothing);
}

TEST(test_with_a_translation)
{
    check_loading(20, translate);
}
