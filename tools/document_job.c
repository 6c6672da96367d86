#include "document_job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_system.h"
#include "interrupt.h"
#include "output_file.h"
#include "text_encoding.h"

enum { READ_BYTES = 1 << 16 };

/* The option that is given although it is about lines; FERRY_OPTION_COUNT: there is none. */
static int find_option_of_lines(const ferry_call *call)
{
    const ferry_option options[] = {
        FERRY_OPTION_RESUME,    FERRY_OPTION_SCORES,          FERRY_OPTION_JSON,
        FERRY_OPTION_ALIGNMENT, FERRY_OPTION_PREFIX,          FERRY_OPTION_PREFIXES,
        FERRY_OPTION_IDS,       ferry_search_option("nbest"), ferry_search_option("alternatives")};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (ferry_is_given(call, options[i])) return (int)options[i];
    return FERRY_OPTION_COUNT;
}

bool ferry_document_format_wanted(const ferry_call *call, const ferry_document_format **format)
{
    const char *name = ferry_option_text(call, FERRY_OPTION_FORMAT);
    const char *input = ferry_option_text(call, FERRY_OPTION_INPUT);
    *format = NULL;
    if (name != NULL)
        *format = ferry_document_format_named(name);
    else if (input != NULL)
        *format = ferry_document_format_of_file(input);
    if (*format == NULL) return true;
    const int of_lines = find_option_of_lines(call);
    if (of_lines != FERRY_OPTION_COUNT) {
        ferry_complain("%s: expected --format lines, found %s", ferry_option_typed(&call->arguments, of_lines).text,
                       (*format)->name);
        return false;
    }
    if (name == NULL && !ferry_is_given(call, FERRY_OPTION_QUIET))
        ferry_complain("%s: translated as %s (--format lines: line by line)", input, (*format)->name);
    return true;
}

/* ---- input ---- */

static const char *input_name(const ferry_call *call)
{
    const char *path = ferry_option_text(call, FERRY_OPTION_INPUT);
    return call->arguments.operand_count > 0 ? "TEXT" : path != NULL ? path : "standard input";
}

static bool read_stream(FILE *in, const char *name, ferry_string *text)
{
    ferry_error error;
    do {
        if (!ferry_succeeded(ferry_string_reserve(text, READ_BYTES, &error), &error)) return false;
        text->size += fread(text->data + text->size, 1, READ_BYTES, in);
    } while (!feof(in) && !ferror(in));
    if (ferror(in)) ferry_complain("%s: %s", name, strerror(errno));
    return !ferror(in);
}

static bool read_operands(const ferry_arguments *arguments, ferry_string *text)
{
    ferry_error error;
    for (size_t i = 0; i < arguments->operand_count; i++) {
        const ferry_view operand = ferry_text_view(arguments->operands[i]);
        if (!ferry_succeeded(ferry_string_append(text, operand, &error), &error)) return false;
        if (!ferry_succeeded(ferry_string_append(text, ferry_text_view("\n"), &error), &error)) return false;
    }
    return true;
}

static bool read_bytes(const ferry_call *call, ferry_string *text)
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

/* The text becomes UTF-8 if it is UTF-16. */
static bool decode(const ferry_call *call, ferry_string *text)
{
    ferry_error error;
    ferry_string decoded = {0};
    const ferry_text_kind kind = ferry_text_recognize((ferry_view){text->data, text->size});
    if (ferry_is_given(call, FERRY_OPTION_FORCE)) return true;
    if (!ferry_text_accept(input_name(call), kind, "--force reads it as UTF-8 nevertheless",
                           ferry_is_given(call, FERRY_OPTION_QUIET)))
        return false;
    if (kind.encoding != FERRY_ENCODING_UTF16_LE && kind.encoding != FERRY_ENCODING_UTF16_BE) return true;
    const ferry_view bytes = {text->data + kind.mark, text->size - kind.mark};
    if (!ferry_succeeded(ferry_string_reserve(&decoded, ferry_utf16_room(bytes.size), &error), &error)) return false;
    size_t used;
    decoded.size = ferry_utf16_decode(kind.encoding, bytes, true, decoded.data, &used);
    free(text->data);
    *text = decoded;
    return true;
}

static bool read_input(const ferry_call *call, ferry_string *text)
{
    return read_bytes(call, text) && (text->size == 0 || decode(call, text));
}

/* ---- translation ---- */

/* The line of byte `at` of the source. */
static size_t find_line(ferry_document_job *job, const ferry_document *document, size_t at)
{
    if (at < job->line_begin || job->line == 0) job->line = 1, job->line_begin = 0;
    for (const char *end;
         (end = memchr(document->source.data + job->line_begin, '\n', at - job->line_begin)) != NULL;) {
        job->line_begin = (size_t)(end - document->source.data) + 1;
        job->line++;
    }
    return job->line;
}

/* Text that stays in the source language. */
static void refuse(void *user, const ferry_document *document, size_t at, const char *message)
{
    ferry_document_job *job = user;
    job->failed = true;
    ferry_fail_lines(find_line(job, document, at), 1, message);
}

static void tell_of_sentences(ferry_document_job *job, ferry_document *document, const ferry_result *result)
{
    for (size_t i = 0; i < ferry_result_sentence_count(result); i++) {
        const size_t begin = ferry_result_sentence(result, i)->source_begin;
        const size_t at = ferry_document_source_place(document, begin);
        const ferry_outcome *outcome = ferry_result_outcome(ferry_result_sentences(result), i);
        if (outcome->warning != NULL) ferry_warn_of_line(job->call, find_line(job, document, at), outcome->warning);
        if (outcome->status == FERRY_OK) continue;
        refuse(job, document, at, outcome->error);
        ferry_document_fail(document, begin);
    }
}

/* How much of the document is done, when the part that is being translated is done in this share. */
static double share_of(const ferry_document *document, double part)
{
    if (document->format->is_markup) return part;
    const double begin = (double)document->blocks[document->first_block].begin;
    const double end = (double)document->blocks[document->after_block - 1].end;
    return (begin + part * (end - begin)) / (double)document->source.size;
}

int ferry_document_job_progress(void *user, size_t done, size_t total)
{
    ferry_document_job *job = user;
    ferry_progress_show(&job->progress, "sentences", job->sentences + done,
                        share_of(job->document, (double)done / (double)total));
    return 0;
}

static ferry_status translate(void *user, ferry_document *document, ferry_view markup, ferry_string *translation,
                              ferry_error *error)
{
    ferry_document_job *job = user;
    ferry_translator *translator = job->session->translator;
    ferry_result *result;
    job->document = document;
    ferry_interrupt_begin(translator);
    ferry_status status = ferry_translate_markup(translator, (ferry_text){markup.data, markup.size}, &result, error);
    job->interrupted = ferry_interrupt_end();
    job->sentences += ferry_result_sentence_count(result);
    if (status == FERRY_OK) {
        const ferry_text text = ferry_result_text(result, 0, 0);
        tell_of_sentences(job, document, result);
        ferry_damage_check(&job->damage, job->session->model, result, 0);
        if (job->damage.found) job->failed = true;
        status = ferry_string_append(translation, (ferry_view){text.data, text.size}, error);
    }
    ferry_result_destroy(result);
    return status;
}

static bool translate_document(ferry_document_job *job, ferry_view source, ferry_string *out)
{
    ferry_error error;
    ferry_document document;
    const ferry_document_translator translator = {.translate = translate, .warn = refuse, .user = job};
    const bool quiet = ferry_is_given(job->call, FERRY_OPTION_QUIET);
    ferry_progress_begin(&job->progress, !quiet, 0, 0);
    ferry_status status = ferry_document_read(&document, job->format, source, &error);
    if (status == FERRY_OK) status = ferry_document_translate(&document, &translator);
    if (status == FERRY_OK) status = ferry_document_write(&document, out, &error);
    ferry_document_destroy(&document);
    ferry_progress_erase();
    if (job->interrupted != 0)
        ferry_complain("interrupted: nothing was written");
    else if (status != FERRY_OK)
        ferry_complain("%s: %s", input_name(job->call), error.message);
    return status == FERRY_OK;
}

/* ---- output ---- */

static bool write_bytes(FILE *out, const void *user)
{
    const ferry_string *text = user;
    return fwrite(text->data, 1, text->size, out) == text->size;
}

/* As a terminal may see it, line by line. */
static bool write_output(const ferry_call *call, const ferry_string *text)
{
    const char *path = ferry_option_text(call, FERRY_OPTION_OUTPUT);
    if (path != NULL) return ferry_output_complete(path, write_bytes, text);
    for (size_t at = 0; at < text->size;) {
        const char *end = memchr(text->data + at, '\n', text->size - at);
        const size_t next = end != NULL ? (size_t)(end - text->data) : text->size;
        ferry_output_text(stdout, (ferry_text){text->data + at, next - at});
        if (end != NULL) putchar('\n');
        at = next + 1;
    }
    return ferry_output_close(stdout, "standard output");
}

bool ferry_document_job_run(ferry_document_job *job)
{
    const char *path = ferry_option_text(job->call, FERRY_OPTION_OUTPUT);
    ferry_string source = {0}, out = {0};
    if (path != NULL && !ferry_output_check(path)) return false;
    const bool done = read_input(job->call, &source) &&
                      translate_document(job, (ferry_view){source.data, source.size}, &out) &&
                      write_output(job->call, &out);
    free(source.data);
    free(out.data);
    return done;
}
