#include <signal.h>
#include <string.h>

#include "base/files/file_system.h"
#include "tools/system/terminal.h"
#include "document_job.h"
#include "line_job.h"
#include "line_output.h"
#include "output_file.h"
#include "translator_session.h"

static bool open_input(const ferry_call *call, ferry_lines *lines)
{
    const ferry_arguments *arguments = &call->arguments;
    if (arguments->operand_count > 0)
        return ferry_lines_from_arguments(lines, arguments->operands, arguments->operand_count);
    if (!ferry_lines_open(lines, ferry_option_text(call, FERRY_OPTION_INPUT))) return false;
    lines->as_is = ferry_is_given(call, FERRY_OPTION_FORCE);
    lines->quiet = ferry_is_given(call, FERRY_OPTION_QUIET);
    lines->advice = "--force reads it as UTF-8 nevertheless";
    return ferry_lines_peek(lines);
}

static bool open_output(ferry_line_job *job, ferry_resume *resume)
{
    const char *path = ferry_option_text(job->call, FERRY_OPTION_OUTPUT);
    /* --nbest: lines of output begin with the number of their line of input. */
    const bool numbered =
        ferry_is_given(job->call, ferry_search_option("nbest")) && !ferry_is_given(job->call, FERRY_OPTION_JSON);
    job->resume = ferry_is_given(job->call, FERRY_OPTION_RESUME) ? resume : NULL;
    job->out_name = path != NULL ? path : "standard output";
    job->out = path != NULL ? ferry_output_open(path, job->resume != NULL) : stdout;
    return job->out != NULL && (job->resume == NULL || ferry_resume_open(resume, job->out, path, numbered));
}

/* What can be done after the program was stopped, or the disk was full. */
static const char *resume_advice(const ferry_call *call)
{
    ferry_file_info info;
    const char *path = ferry_option_text(call, FERRY_OPTION_OUTPUT);
    const bool file = path != NULL && ferry_file_examine(path, &info) && info.kind == FERRY_KIND_FILE;
    return file ? "; to go on: the same command with --resume" : "";
}

/* Says what is probably not meant, and does it. */
static void hint(const ferry_call *call)
{
    const ferry_arguments *arguments = &call->arguments;
    const char *text = arguments->operand_count == 1 ? arguments->operands[0] : "";
    ferry_file_info file;
    if (ferry_is_given(call, FERRY_OPTION_QUIET)) return;
    /* The name of a file, rather than text: it exists, and has an ending or a folder. */
    if (strpbrk(text, "./\\") != NULL && strpbrk(text, " \t\n") == NULL && ferry_file_examine(text, &file))
        ferry_complain("'%s' is translated as text; to translate the file: ferry translate -i FILE", text);
    if (arguments->operand_count == 0 && ferry_option_text(call, FERRY_OPTION_INPUT) == NULL &&
        ferry_is_terminal(stdin))
        ferry_complain("reading from the terminal; end with %s; see 'ferry help translate'", ferry_end_of_input);
}

static bool is_wrong_usage(const ferry_call *call)
{
    if (!ferry_second_model_check(call)) return true;
    if (call->arguments.operand_count > 0 && ferry_is_given(call, FERRY_OPTION_INPUT)) {
        ferry_complain("translate: expected TEXT or %s, found both",
                       ferry_option_typed(&call->arguments, FERRY_OPTION_INPUT).text);
        return true;
    }
    if (ferry_is_given(call, FERRY_OPTION_RESUME) && ferry_option_text(call, FERRY_OPTION_OUTPUT) == NULL) {
        ferry_complain("--resume: expected a file as --output, found standard output");
        return true;
    }
    return false;
}

static int translate_lines(const ferry_call *call)
{
    ferry_lines lines = {.descriptor = -1};
    ferry_resume resume = {.path = NULL};
    ferry_session session = {.model = NULL};
    ferry_line_job job = {.call = call, .session = &session, .lines = &lines};
    const ferry_session_needs needs = {.scores = ferry_line_output_scores(call),
                                       .progress = ferry_line_job_progress,
                                       .user = &job};
    bool done = open_input(call, &lines) && ferry_session_open(call, &needs, &session) && open_output(&job, &resume) &&
                ferry_line_job_run(&job);
    if (!job.lost)
        done = ferry_output_close(job.out, job.out_name) && done;
    else if (job.out != stdout && job.out != stderr)
        fclose(job.out); /* the job has said what is lost */
    if (job.interrupted != 0 && !job.lost)
        ferry_complain("stopped after %s line%s%s", ferry_group_digits(job.written).text, job.written == 1 ? "" : "s",
                       resume_advice(call));
    ferry_resume_close(&resume);
    ferry_session_close(&session);
    ferry_lines_close(&lines);
    ferry_count_unprinted();
    if (job.interrupted != 0) raise(job.interrupted);
    return done && !job.failed ? FERRY_EXIT_OK : FERRY_EXIT_FAILED;
}

static int translate_document(const ferry_call *call, const ferry_document_format *format)
{
    ferry_session session = {.model = NULL};
    ferry_document_job job = {.call = call, .session = &session, .format = format};
    const ferry_session_needs needs = {.on_loop = FERRY_ON_LOOP_RETRY}; /* a text that loops would stay */
    bool done = ferry_session_open(call, &needs, &session);
    if (done) done = ferry_document_job_run(&job);
    ferry_session_close(&session);
    if (job.interrupted != 0) raise(job.interrupted);
    return done && !job.failed ? FERRY_EXIT_OK : FERRY_EXIT_FAILED;
}

static int run(const ferry_call *call)
{
    const ferry_document_format *format;
    if (is_wrong_usage(call) || !ferry_document_format_wanted(call, &format)) return FERRY_EXIT_USAGE;
    hint(call);
    return format != NULL ? translate_document(call, format) : translate_lines(call);
}

const ferry_command ferry_command_translate = {
    .name = "translate",
    .synopsis = "[TEXT…]",
    .summary = "translate the arguments, or the lines of standard input",
    .details =
        "Prints one line for each line of input, in order. A line of several sentences is translated sentence by\n"
        "sentence (--split), one of more source tokens than --max-source in parts. A blank line stays as it is; CR LF\n"
        "at the end of a line is kept. For a line that cannot be translated: an empty line, a message with its "
        "number,\n"
        "and exit status 1.\n"
        "'-' as TEXT or as FILE of --input or --output: the standard one. Search options default to what the model's\n"
        "authors chose.\n"
        "With another --format than lines, the text of a document is translated, and everything else stays as it is;\n"
        "without --format, the ending of FILE decides: .txt, .html, .md, .srt, .vtt, .po, .json. With options about\n"
        "lines, .txt is lines.\n"
        "--glossary: where a line or a document has the words of a line of FILE, whole, the translation has one of "
        "the\n"
        "targets behind their tab, which '|' divides, or the words themselves if there is none. '#' begins a comment; "
        "in\nFILE.csv a comma is the tab, and fields may be in quotes.\n"
        "-m FIRST -m SECOND: what the first model makes of a sentence, the second translates: from German through "
        "English\ninto French, for example. --from is the first's, --to the second's, --via the language between, "
        "where "
        "both\nhave several.\n"
        "--nbest N without --beam widens the beam to N if necessary; its lines are counted from 0.\n"
        "--json: an object a line: line source text score tokens (of each id piece log_probability) quality\n"
        "warnings error; with --nbest hypotheses; with --alignment alignment source_tokens, and begin end of tokens.\n",
    .examples = "ferry translate \"Good morning!\" \"How are you?\"\n"
                "ferry translate -i letter.txt -o brief.txt\n"
                "echo \"See you tomorrow.\" | ferry translate --beam 8 --nbest 3\n",
    .options = {FERRY_TAKES(MODEL) | FERRY_TAKES(INPUT) | FERRY_TAKES(FORMAT) | FERRY_TAKES(GLOSSARY) |
                    FERRY_TAKES(KEEP) | FERRY_TAKES(OUTPUT) | FERRY_TAKES(RESUME) | FERRY_TAKES(FORCE) |
                    FERRY_TAKES(FROM) | FERRY_TAKES(TO) | FERRY_TAKES(VIA) | FERRY_TAKES(SCORES) | FERRY_TAKES(JSON) |
                    FERRY_TAKES(ALIGNMENT) | FERRY_TAKES(PREFIX) | FERRY_TAKES(PREFIXES) | FERRY_TAKES(IDS) |
                    FERRY_TAKES(SEED) | FERRY_TAKES(NO_SHORTLIST) | FERRY_TAKES(QUIET),
                "*", FERRY_TAKES(INPUT) | FERRY_TAKES(OUTPUT)},
    .least = 0,
    .most = SIZE_MAX,
    .run = run,
};
