/* Folders of tests/data/documents: in.EXT, translated by a function that writes capitals, is want.txt, byte for byte.
 * texts.txt, where it is, has a line for each text that the reader finds: ‹an element›, «what is kept, as it is read»,
 * ⏎ the end of a line. */
#include "document_support.h"
#include "tests/support/files.h"

#include "base/files/file_system.h"
#include "tools/system/folders.h"

static void put_item(made_file *out, const ferry_document *document, const ferry_span *item)
{
    static const char *const marks[][2] = {
        [FERRY_SPAN_TEXT] = {"", ""},    [FERRY_SPAN_OPEN] = {"‹", "›"}, [FERRY_SPAN_CLOSE] = {"‹", "›"},
        [FERRY_SPAN_POINT] = {"‹", "›"}, [FERRY_SPAN_KEPT] = {"«", "»"}, [FERRY_SPAN_BREAK] = {"⏎", ""}};
    const bool is_read = item->kind == FERRY_SPAN_TEXT || item->kind == FERRY_SPAN_KEPT;
    put_text(out, marks[item->kind][0]);
    if (is_read)
        put_bytes(out, document->text.data + item->text_begin, item->text_end - item->text_begin);
    else if (item->kind != FERRY_SPAN_BREAK)
        put_bytes(out, document->source.data + item->begin, item->end - item->begin);
    put_text(out, marks[item->kind][1]);
}

static void assert_file(const char *path, ferry_view found)
{
    const ferry_view wanted = mapped_bytes(path);
    if (!ferry_view_equal(found, wanted))
        fail_msg("%s: found:\n%.*s\nexpected:\n%.*s", path, (int)found.size, found.data, (int)wanted.size, wanted.data);
}

static void check_texts(const ferry_document_format *format, ferry_view source, const char *path)
{
    made_file out = {0};
    ferry_document document;
    CHECK(ferry_document_read(&document, format, NULL, source, &error));
    for (size_t i = 0; i < document.segment_count; i++) {
        const ferry_segment *block = &document.segments[i];
        if (!block->has_letters) continue;
        for (size_t k = block->first_span; k < block->after_span; k++) put_item(&out, &document, &document.spans[k]);
        put_text(&out, "\n");
    }
    ferry_document_destroy(&document);
    assert_file(path, whole(&out));
}

static bool is_input(const char *name)
{
    return ferry_text_begins(name, "in.");
}

/* A folder's name. */
static bool is_case(const char *name)
{
    return strchr(name, '.') == NULL;
}

TEST(test_cases_of_documents)
{
    char **cases;
    size_t count;
    assert_true(ferry_folder_names(data_file("documents"), is_case, &cases, &count));
    assert_true(count > 0);
    for (size_t i = 0; i < count; i++) {
        char **inputs;
        size_t input_count;
        ferry_file_info info;
        assert_true(ferry_folder_names(data_file("documents/%s", cases[i]), is_input, &inputs, &input_count));
        assert_int_equal(input_count, 1);
        const ferry_document_format *format = ferry_document_format_of_file(inputs[0]);
        const ferry_view source = mapped_bytes(data_file("documents/%s/%s", cases[i], inputs[0]));
        ferry_buffer out = translate_document(format, source, STAND_IN_UPPER, NULL);
        assert_file(data_file("documents/%s/want.txt", cases[i]), (ferry_view){out.data, out.size});
        const char *texts = data_file("documents/%s/texts.txt", cases[i]);
        if (ferry_file_examine(texts, &info)) check_texts(format, source, texts);
        free(out.data);
        free(inputs[0]);
        free(inputs);
        free(cases[i]);
    }
    free(cases);
}
