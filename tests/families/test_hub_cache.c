/* The folder that huggingface_hub keeps: which snapshot is read, and downloads that did not end. */
#include "tests/support/refusals.h"

#include "base/files/hub_cache.h"
#include "tools/system/folders.h"

static void remove_in(const char *folder, const char *name)
{
    assert_int_equal(remove(in_directory(folder, name)), 0);
}

/* models--facebook--NAME with a snapshot `first` of the files of a small model, which are links to blobs. */
static char *make_hub(const char *name, const char *snapshot)
{
    static const char *const files[] = {"config.json",       "generation_config.json", "merges.txt",
                                        "model.safetensors", "tokenizer_config.json",  "vocab-src.json",
                                        "vocab-tgt.json"};
    char *hub = scratch_directory(ferry_format("models--facebook--%s", name).text);
    static const char *const folders[] = {"blobs", "refs", "snapshots"};
    for (size_t i = 0; i < COUNT(folders); i++) assert_true(ferry_folder_create_private(in_directory(hub, folders[i])));
    write_text(hub, "refs/main", snapshot);
    char *folder = in_directory(hub, ferry_format("snapshots/%s", snapshot).text);
    assert_true(ferry_folder_create_private(folder));
    for (size_t i = 0; i < COUNT(files); i++) {
        const made_file file = file_copy(data_file("families/fsmt/%s", files[i]));
        char *blob = in_directory(hub, ferry_format("blobs/%zu", i).text);
        write_bytes(blob, file.data, file.size);
        link_file(blob, folder, files[i]);
    }
    return hub;
}

TEST(test_snapshot_of_main)
{
    char *hub = make_hub("wmt19-en-de", "abc123");
    assert_string_equal(note_of(hub), "reads snapshots/abc123 of the folder of the hub");
    check_file_keys(converted(hub), "origin.name wmt19-en-de; origin.kind huggingface-fsmt");
    check_file_keys(converted(in_directory(hub, "snapshots/abc123")), "origin.name wmt19-en-de");
    /* The snapshot of refs/main alone: never an older one. */
    char *newer = in_directory(hub, "snapshots/def456");
    assert_true(ferry_folder_create_private(newer));
    write_text(hub, "refs/main", "def456\n");
    refuse_source(hub, FERRY_ERROR_UNSUPPORTED, "config.json is missing");
    write_text(hub, "refs/main", "fff");
    refuse_source(hub, FERRY_ERROR_IO, "refs/main names 'snapshots/fff', which is missing");
    remove_in(hub, "refs/main");
    refuse_source(hub, FERRY_ERROR_IO, "expected refs/main, which names a snapshot, or one snapshot, found 2");
    write_text(hub, "refs/main", "../../blobs");
    refuse_source(hub, FERRY_ERROR_IO, "or one snapshot, found 2");
}

TEST(test_the_only_snapshot)
{
    char *hub = make_hub("only", "abc123");
    remove_in(hub, "refs/main");
    assert_string_equal(note_of(hub), "reads snapshots/abc123 of the folder of the hub");
}

TEST(test_unfinished_downloads)
{
    char *hub = make_hub("unfinished", "abc123"), *folder = in_directory(hub, "snapshots/abc123");
    write_text(hub, "blobs/77.incomplete", "");
    refuse_source(hub, FERRY_ERROR_IO,
                  "the download of snapshots/abc123 did not end: 'blobs/77.incomplete' is incomplete");
    write_text(hub, "blobs/77", "");
    (void)converted(hub);
#if !defined(_WIN32)
    link_file(in_directory(hub, "blobs/88"), folder, "model-00002-of-00002.safetensors");
    refuse_source(hub, FERRY_ERROR_IO, "'snapshots/abc123/model-00002-of-00002.safetensors' is incomplete");
    remove_in(folder, "model-00002-of-00002.safetensors");
#endif
    remove_in(folder, "model.safetensors");
    write_text(folder, "model.safetensors.index.json",
               "{\"weight_map\": {\"a\": \"model-00001-of-00002.safetensors\"}}");
    refuse_source(hub, FERRY_ERROR_IO, "model-00001-of-00002.safetensors: cannot open: there is no such file");
}

TEST(test_names)
{
    static const char *const rows[][2] = {
        {"/a/models--org--name", "name"},
        {"/models--name", "name"},
        {"/a/models--org--my-model_1/snapshots/abc", "my-model_1"},
        {"/a/models--org--name/blobs/abc", ""},
        {"/a/other/snapshots/abc", ""},
        {"/snapshots/abc", ""},
        {"/", ""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const ferry_view name = ferry_hub_name(rows[i][0]);
        assert_true(ferry_view_is(name, rows[i][1]));
    }
}
