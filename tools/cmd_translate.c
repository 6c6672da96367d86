#include <signal.h>

#include "document_job.h"
#include "line_job.h"
#include "output_file.h"

typedef struct files {
    ferry_lines lines;
    FILE *out;
    const char *out_name;
} files;

static bool open_input(const ferry_call *call, ferry_lines *lines)
{
    const ferry_arguments *arguments = &call->arguments;
    if (arguments->operand_count > 0)
        return ferry_lines_from_arguments(lines, arguments->operands, arguments->operand_count);
    return ferry_lines_open(lines, ferry_option_text(call, FERRY_OPTION_INPUT));
}

static bool open_output(const ferry_call *call, files *f)
{
    f->out_name = ferry_option_text(call, FERRY_OPTION_OUTPUT);
    if (f->out_name == NULL) {
        f->out_name = "standard output";
        f->out = stdout;
        return true;
    }
    if (ferry_output_is_input(f->out_name, ferry_option_text(call, FERRY_OPTION_INPUT), "input")) return false;
    f->out = ferry_output_open(f->out_name);
    return f->out != NULL;
}

static int translate_lines(const ferry_call *call)
{
    files f = {.out = NULL};
    ferry_session session = {.model = NULL};
    bool done = open_input(call, &f.lines) && ferry_session_open(call, &session) && open_output(call, &f);
    ferry_line_job job = {.call = call, .session = &session, .lines = &f.lines, .out = f.out};
    if (done) done = ferry_line_job_run(&job);
    if (!ferry_output_close(f.out, f.out_name)) done = false;
    ferry_session_close(&session);
    ferry_lines_close(&f.lines);
    if (job.interrupted != 0) raise(job.interrupted);
    return done && !job.failed ? FERRY_EXIT_OK : FERRY_EXIT_FAILED;
}

static int translate_document(const ferry_call *call, const ferry_document_format *format)
{
    ferry_session session = {.model = NULL};
    ferry_document_job job = {.call = call, .session = &session, .format = format};
    const bool done = ferry_session_open(call, &session) && ferry_document_job_run(&job);
    ferry_session_close(&session);
    if (job.interrupted != 0) raise(job.interrupted);
    return done && !job.failed ? FERRY_EXIT_OK : FERRY_EXIT_FAILED;
}

static int run(const ferry_call *call)
{
    const ferry_document_format *format;
    if (call->arguments.operand_count > 0 && ferry_is_given(call, FERRY_OPTION_INPUT)) {
        ferry_complain("translate: expected TEXT or --input, found both");
        return FERRY_EXIT_USAGE;
    }
    if (!ferry_document_format_wanted(call, &format)) return FERRY_EXIT_USAGE;
    return format != NULL ? translate_document(call, format) : translate_lines(call);
}

const ferry_command ferry_command_translate = {
    .name = "translate",
    .synopsis = "[TEXT…]",
    .summary = "translate the arguments, or the lines of standard input",
    .details =
        "Prints one line for each line of input, in order; a line is one sentence for the model. A blank line stays\n"
        "as it is; CR LF at the end of a line is kept. For a line that cannot be translated: an empty line, a message\n"
        "with its number, and exit status 1. A line of more source tokens than --max-source is translated in parts.\n"
        "Search options default to what the model's authors chose.\n"
        "With another --format than lines, the text of a document is translated and everything else stays as it is.\n"
        "Without --format, the ending of --input's FILE decides (.html, .md, .srt ...).\n"
        "--nbest N without --beam widens the beam to N if necessary; its lines are counted from 0.\n",
    .options = {FERRY_TAKES(MODEL) | FERRY_TAKES(INPUT) | FERRY_TAKES(OUTPUT) | FERRY_TAKES(FROM) | FERRY_TAKES(TO) |
                    FERRY_TAKES(FORMAT) | FERRY_TAKES(SCORES) | FERRY_TAKES(NO_SHORTLIST) | FERRY_TAKES(QUIET),
                "*"},
    .least = 0,
    .most = SIZE_MAX,
    .run = run,
};
