#include "document_job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "base/utf8.h"
#include "tools/system/terminal.h"
#include "line_reader.h"
#include "progress.h"
#include "output_file.h"
#include "text_encoding.h"

enum { READ_BYTES = 1 << 16 };

/* The option that is given although it is about lines; FERRY_OPTION_COUNT: there is none. */
static int find_option_of_lines(const ferry_call *call)
{
    const ferry_option options[] = {FERRY_OPTION_RESUME,
                                    FERRY_OPTION_SCORES,
                                    FERRY_OPTION_JSON,
                                    FERRY_OPTION_KEEP,
                                    FERRY_OPTION_ALIGNMENT,
                                    FERRY_OPTION_PREFIX,
                                    FERRY_OPTION_PREFIXES,
                                    FERRY_OPTION_IDS,
                                    ferry_search_option("nbest"),
                                    ferry_search_option("alternatives"),
                                    ferry_search_option("sample")};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (ferry_is_given(call, options[i])) return (int)options[i];
    return FERRY_OPTION_COUNT;
}

/* Refuses an input whose name says that it has a structure, but none that is known. */
static bool refuse_format(const char *path)
{
    ferry_short_text formats = ferry_format("lines");
    for (const ferry_document_format *const *format = ferry_document_formats; *format != NULL; format++)
        formats = ferry_format("%s|%s", formats.text, (*format)->name);
    ferry_complain("%s: expected --format %s, as the structure of such files is not known", path, formats.text);
    return false;
}

bool ferry_document_format_wanted(const ferry_call *call, const ferry_document_format **format)
{
    const char *name = ferry_option_text(call, FERRY_OPTION_FORMAT);
    const char *input = ferry_option_text(call, FERRY_OPTION_INPUT);
    const bool tells = name == NULL && !ferry_is_given(call, FERRY_OPTION_QUIET);
    *format = NULL;
    if (name != NULL)
        *format = ferry_document_format_named(name);
    else if (input != NULL)
        *format = ferry_document_format_of_file(input);
    if (*format == NULL)
        return name != NULL || input == NULL || !ferry_document_has_other_format(input) || refuse_format(input);
    const int of_lines = find_option_of_lines(call);
    if (of_lines == FERRY_OPTION_COUNT) {
        if (tells) ferry_complain("%s: translated as %s (--format lines: line by line)", input, (*format)->name);
        return true;
    }
    const ferry_short_text option = ferry_option_typed(&call->arguments, of_lines);
    if (name != NULL || *format != &ferry_format_text) {
        ferry_complain("%s: expected --format lines, found %s", option.text, (*format)->name);
        return false;
    }
    if (tells) ferry_complain("%s: translated line by line, as %s is about lines", input, option.text);
    *format = NULL;
    return true;
}

/* ---- input ---- */

static const char *input_name(const ferry_call *call)
{
    const char *path = ferry_option_text(call, FERRY_OPTION_INPUT);
    return call->arguments.operand_count > 0 ? "TEXT" : path != NULL ? path : "standard input";
}

static bool read_stream(FILE *in, const char *name, ferry_buffer *text)
{
    ferry_error error;
    do {
        if (!ferry_succeeded(ferry_buffer_reserve(text, READ_BYTES, &error), &error)) return false;
        text->size += fread(text->data + text->size, 1, READ_BYTES, in);
    } while (!feof(in) && !ferror(in));
    if (ferror(in)) ferry_complain("%s: %s", name, strerror(errno));
    return !ferror(in);
}

static bool read_operands(const ferry_arguments *arguments, ferry_buffer *text)
{
    ferry_error error;
    for (size_t i = 0; i < arguments->operand_count; i++) {
        const ferry_view operand = ferry_text_view(arguments->operands[i]);
        if (!ferry_succeeded(ferry_buffer_append(text, operand, &error), &error)) return false;
        if (!ferry_succeeded(ferry_buffer_append(text, ferry_text_view("\n"), &error), &error)) return false;
    }
    return true;
}

static bool read_bytes(const ferry_call *call, ferry_buffer *text)
{
    const char *path = ferry_option_text(call, FERRY_OPTION_INPUT);
    if (call->arguments.operand_count > 0) return read_operands(&call->arguments, text);
    if (path == NULL) return read_stream(stdin, input_name(call), text);
    FILE *in = ferry_stream_open(path, "rb");
    if (in == NULL) {
        ferry_complain("%s: %s", path, strerror(errno));
        return false;
    }
    const bool complete = read_stream(in, path, text);
    fclose(in);
    return complete;
}

/* The text becomes UTF-8 if it is UTF-16 or Windows-1252. */
static bool decode(const ferry_document_job *job, ferry_buffer *text)
{
    ferry_error error;
    ferry_buffer decoded = {0};
    const bool quiet = ferry_is_given(job->call, FERRY_OPTION_QUIET);
    const ferry_text_kind kind = ferry_text_recognize((ferry_view){text->data, text->size});
    const ferry_view bytes = {text->data + kind.mark, text->size - kind.mark};
    if (ferry_is_given(job->call, FERRY_OPTION_FORCE)) return true;
    const bool wide = kind.encoding == FERRY_ENCODING_UTF16_LE || kind.encoding == FERRY_ENCODING_UTF16_BE;
    /* Documents of the other formats say their encoding themselves. */
    const bool windows = !wide && kind.encoding != FERRY_ENCODING_BINARY && job->format != &ferry_format_html &&
                         job->format != &ferry_format_po && ferry_text_is_windows_1252(bytes);
    if (windows && !quiet)
        ferry_complain("%s: expected text in UTF-8, found probably Windows-1252; read as that, and written as UTF-8 "
                       "(iconv -f ENCODING -t UTF-8 converts another encoding)",
                       input_name(job->call));
    if (!windows && !ferry_text_accept(input_name(job->call), kind, "--force reads it as UTF-8 nevertheless", quiet))
        return false;
    if (!windows && !wide) return true;
    ferry_status status = ferry_buffer_reserve(&decoded, ferry_utf16_room(bytes.size), &error);
    size_t used;
    if (status == FERRY_OK && wide)
        decoded.size = ferry_utf16_decode(kind.encoding, bytes, true, decoded.data, &used);
    else if (status == FERRY_OK)
        status = ferry_windows_1252_decode(bytes, &decoded, &error);
    free(text->data);
    *text = decoded;
    return ferry_succeeded(status, &error);
}

/* ---- translation ---- */

static int tell_progress(void *user, size_t done, size_t total)
{
    ferry_progress_show(user, "texts", done, (double)done / (double)total);
    return 0;
}

static int compare_reasons(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* How many of the texts that are left are left for each reason. */
static void tell_reasons(const ferry_document_result *result, size_t left)
{
    const char **reasons = ferry_allocate(left, sizeof *reasons);
    const ferry_document_note *note;
    size_t count = 0;
    if (reasons == NULL) return;
    for (size_t i = 0; (note = ferry_document_result_note(result, i)) != NULL; i++)
        if (note->left != 0) reasons[count++] = note->message;
    qsort(reasons, count, sizeof *reasons, compare_reasons);
    for (size_t first = 0, after; first < count; first = after) {
        for (after = first + 1; after < count && strcmp(reasons[first], reasons[after]) == 0;) after++;
        ferry_complain("%zu of them: %s", after - first, reasons[first]);
    }
    free(reasons);
}

static void tell_notes(ferry_document_job *job, const ferry_document_result *result)
{
    const ferry_document_counts counts = ferry_document_result_counts(result);
    const ferry_document_note *note;
    for (size_t i = 0; (note = ferry_document_result_note(result, i)) != NULL; i++)
        if (note->left == 0)
            ferry_warn_of_line(job->call, note->line, note->message);
        else
            ferry_fail_lines(note->line, 1, ferry_format("not translated: %s", note->message).text);
    if (counts.left == 0) return;
    job->failed = true;
    ferry_complain("texts: %zu translated, %zu kept, %zu left in the source language", counts.translated, counts.kept,
                   counts.left);
    if (counts.left > 1) tell_reasons(result, counts.left);
}

static bool translate_document(ferry_document_job *job, ferry_view source, ferry_document_result **result)
{
    ferry_error error;
    ferry_progress progress;
    const ferry_document_options options = {
        .size = sizeof options,
        .progress = tell_progress,
        .user = &progress,
        .from = ferry_option_text(job->call, FERRY_OPTION_FROM),
        .to = ferry_option_text(job->call, FERRY_OPTION_TO),
        .last = job->session->second,
    };
    ferry_progress_begin(&progress, !ferry_is_given(job->call, FERRY_OPTION_QUIET), 0, 0);
    ferry_interrupt_begin(job->session->translator);
    const ferry_status status =
        ferry_document_translate(job->session->model, job->session->translator, job->format->name,
                                 (ferry_text){source.data, source.size}, &options, result, &error);
    job->interrupted = ferry_interrupt_end();
    ferry_progress_erase();
    if (job->interrupted != 0)
        ferry_complain("interrupted: nothing was written");
    else if (status != FERRY_OK)
        ferry_complain("%s: %s", input_name(job->call), error.message);
    if (status != FERRY_OK) return false;
    tell_notes(job, *result);
    /* What is odd may be the fault of a damaged model file. */
    if (ferry_document_result_note_count(*result) > 0 && ferry_session_is_damaged(job->session)) job->failed = true;
    return true;
}

/* ---- output ---- */

/* As a terminal may see it, line by line. */
static bool write_text(FILE *out, const void *user)
{
    const ferry_text *text = user;
    for (size_t at = 0; at < text->size;) {
        const char *end = memchr(text->data + at, '\n', text->size - at);
        const size_t next = end != NULL ? (size_t)(end - text->data) : text->size;
        ferry_output_text(out, (ferry_text){text->data + at, next - at});
        if (end != NULL) fputc('\n', out);
        at = next + 1;
    }
    return true; /* what is lost, closing the stream tells */
}

static bool write_output(const ferry_call *call, const ferry_text *text)
{
    const char *path = ferry_option_text(call, FERRY_OPTION_OUTPUT);
    if (path != NULL) return ferry_output_complete(path, write_text, text);
    write_text(stdout, text);
    return ferry_output_close(stdout, "standard output");
}

bool ferry_document_job_run(ferry_document_job *job)
{
    const char *path = ferry_option_text(job->call, FERRY_OPTION_OUTPUT);
    ferry_buffer source = {0};
    ferry_document_result *result = NULL;
    if (path != NULL && !ferry_output_check(path)) return false;
    bool done = read_bytes(job->call, &source) && (source.size == 0 || decode(job, &source)) &&
                translate_document(job, (ferry_view){source.data, source.size}, &result);
    if (done) {
        const ferry_text text = ferry_document_result_text(result);
        done = write_output(job->call, &text);
    }
    ferry_document_result_destroy(result);
    free(source.data);
    return done;
}
