/* Markdown without a model: long documents, and a NUL. (tests/data/documents/markdown.cases: what it would be shown,
 * and what becomes of translations that are hard to write.) */
#include "document_support.h"
#include "tests/support/files.h"

static const ferry_document_format *const markdown = &ferry_format_markdown;

static void put_often(made_file *file, const char *text, size_t count)
{
    for (size_t i = 0; i < count; i++) put_text(file, text);
}

/* Time is linear in the document: however often definitions are used, and however long paragraphs are. */
TEST(test_long_documents)
{
    made_file target = {0}, title = {0}, lines = {0};
    put_text(&target, "[a]: ");
    put_often(&target, "bbbbbbbbbb", 1000);
    put_text(&target, "\n\n");
    put_often(&target, "[c][a] ", 1000);
    ferry_string out = translate_document(markdown, whole(&target), STAND_IN_UPPER, NULL);
    assert_memory_equal(out.data + out.size - 7, "[C][a] ", 7);
    free(out.data);
    put_text(&title, "[a]: b '");
    put_often(&title, "bbbbbbbbbb", 1000);
    put_text(&title, "'\n\n");
    put_often(&title, "[c][a] ", 1000);
    put_bytes(&title, "", 1);
    check_reading(markdown, (const char *)whole(&title).data, "definitions of links");
    put_often(&lines, "aaaaaa\n", 1001);
    out = translate_document(markdown, whole(&lines), STAND_IN_UPPER, NULL);
    assert_memory_equal(out.data + out.size - 15, "\nAAAAAA AAAAAA\n", 15);
    free(out.data);
}

TEST(test_nul)
{
    ferry_string nul = translate_document(markdown, (ferry_view){"a\0b *c*\n", 8}, STAND_IN_UPPER, NULL);
    assert_int_equal(nul.size, 8);
    assert_memory_equal(nul.data, "A\0B *C*\n", 8);
    free(nul.data);
}
