#include "cli_core.h"

#include "charset.h"
#include "doc.h"

#include "harness/base/clean.h"
#include "harness/base/file.h"
#include "harness/base/msg.h"

#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#ifndef STRIDE_VERSION
#define STRIDE_VERSION "unknown"
#endif

enum option {
    OPTION_JSON = 1,
    OPTION_NO_COMMIT = 2,
    OPTION_BACKEND = 4,
    OPTION_LISTING = 8,
    OPTION_PICTURE = 16,
};

static const struct command {
    const char *name;
    int (*run)(struct cli *);
    int least, most; /* arguments */
    int options;
    const char *synopsis, *help;
} commands[] = {
    {"list", cli_list, 0, 0, OPTION_JSON, "list [--json]",
     N_("the labs, and how far you are with each")},
    {"run", cli_run, 1, 2, OPTION_JSON | OPTION_NO_COMMIT | OPTION_BACKEND,
     "run LAB [FILE] [--backend auto|gpu|sim] [--json] [--no-commit]",
     N_("one attempt with your kernel, or with FILE")},
    {"edit", cli_edit, 1, 1, OPTION_NO_COMMIT | OPTION_BACKEND, "edit LAB",
     N_("opens your kernel in your editor, and runs it when it changed")},
    {"quiz", cli_quiz, 1, 1, 0, "quiz LAB", N_("the lab's questions, one after the other")},
    {"doctor", cli_doctor, 0, 0, OPTION_JSON, "doctor [--json]",
     N_("what this machine has, what is missing, and how to get it")},
    {"log", cli_log, 1, 1, OPTION_JSON, "log LAB [--json]", N_("your attempts")},
    {"diff", cli_diff, 1, 3, OPTION_LISTING, "diff LAB [A [B]] [--ptx|--sass]",
     N_("what changed between two attempts, or since one")},
    {"timeline", cli_timeline, 1, 2, OPTION_JSON | OPTION_PICTURE,
     "timeline LAB [ATTEMPT] [--svg FILE] [--trace FILE] [--json]",
     N_("what a run did and when: as text, as a picture, or as a trace for Perfetto")},
    {"restore", cli_restore, 2, 2, 0, "restore LAB ATTEMPT",
     N_("puts the kernel of an attempt back, as a new commit")},
    {"reset", cli_reset, 1, 1, 0, "reset LAB", N_("puts the starter code back, as a new commit")},
    {"check", cli_check, 0, CLI_ARGUMENTS, OPTION_BACKEND,
     "check [LAB...] [--backend auto|gpu|sim]",
     N_("for authors: checks lessons, quizzes and kernels")},
};

/* ---- printing */

static void print_clean(FILE *file, const char *text, size_t len)
{
    struct buf clean = {0};
    clean_text(&clean, text, len);
    for (size_t at = 0; at < clean.len && !charset_utf8();) {
        uint32_t code;
        size_t took = utf8_decode(&code, clean.data + at, clean.len - at);
        fputc(code < 128 ? (int)code : '?', file);
        at += took;
    }
    if (charset_utf8() && clean.len)
        fwrite(clean.data, 1, clean.len, file);
    buf_free(&clean);
}

void say_text(const char *text, size_t len)
{
    print_clean(stdout, text, len);
}

void say(const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int len = vasprintf(&text, format, args);
    va_end(args);
    if (len >= 0)
        print_clean(stdout, text, (size_t)len);
    free(text);
}

void complain(const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int len = vasprintf(&text, format, args);
    va_end(args);
    if (len >= 0) {
        fputs("stride: ", stderr);
        print_clean(stderr, text, (size_t)len);
        fputc('\n', stderr);
    }
    free(text);
}

void say_json(const json_t *value)
{
    struct buf text = {0};
    attempt_dump(value, &text);
    fwrite(buf_str(&text), 1, text.len, stdout);
    buf_free(&text);
}

void say_padded(const char *text, int columns)
{
    struct buf clean = {0};
    clean_line(&clean, text, strlen(text));
    int width = text_columns(buf_str(&clean), clean.len);
    say("%s%*s", buf_str(&clean), width < columns ? columns - width : 1, "");
    buf_free(&clean);
}

const char *json_text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

long long json_int_at(const json_t *object, const char *key)
{
    return (long long)json_number_value(json_object_get(object, key));
}

double json_number_at(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

/* ---- what commands need */

const struct labfile *cli_lab(struct cli *cli, const char *slug)
{
    const struct labfile *lab = library_find(&cli->library, slug);
    if (lab)
        return lab;
    const char *near = library_suggest(&cli->library, slug);
    if (near)
        complain(_("there is no lab %s; did you mean %s?"), slug, near);
    else
        complain(_("there is no lab %s; `stride list` shows them all"), slug);
    return NULL;
}

bool cli_open_history(struct cli *cli)
{
    struct err notice = {0}, err = {0};
    bool ok = history_open(&cli->history, cli->library.work, &notice, &err);
    if (*notice.text)
        complain("%s", notice.text);
    if (!ok)
        complain(_("attempts are not recorded: %s"), err.text);
    return ok;
}

bool cli_prepare(struct cli *cli, const struct labfile *lab)
{
    struct err err = {0};
    if (library_prepare(&cli->library, lab, NULL, &err))
        return true;
    complain("%s", err.text);
    return false;
}

/* ---- the command line */

static void print_usage(FILE *file)
{
    fputs(_("usage: stride                     the full screen\n"), file);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        fprintf(file, "       stride %s\n", commands[i].synopsis);
        fprintf(file, "           %s\n", _(commands[i].help));
    }
    fputs("       stride --script FILE --size COLSxROWS --save DIR\n", file);
    fprintf(file, "           %s\n", _("the screen without a terminal: keys in, screens out"));
    fputs("       stride --help    --version    [--lang en|zh]\n", file);
    fputs(_("Exit status: 0 passed or done, 1 not passed, 2 usage, 3 the lab is broken, 4 this "
            "machine can't, "
            "5 Stride failed.\n"),
          file);
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

/* Options of the screen that take a value, so that the value is not taken for a command. */
static bool takes_value(const char *option)
{
    static const char *const names[] = {"--lang",    "--theme", "--script", "--size", "--save",
                                        "--backend", "--lab",   "--svg",    "--trace"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], option) == 0)
            return true;
    return false;
}

/* `stride LAB` opens the full screen with that lab. */
static bool is_lab(const char *word)
{
    char *root = NULL;
    if (strchr(word, '/') || *word == '.' || !path_find_root(&root, NULL))
        return false;
    char *path = mem_printf("%s/kernels/%s/lab.yaml", root, word);
    bool yes = file_exists(path);
    free(path);
    free(root);
    return yes;
}

bool cli_wants(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strncmp(argv[i], "--script", 8) == 0) /* the screen's, with a lab before or behind it */
            return false;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 ||
            strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
            return true;
        if (word[0] != '-')
            return find_command(word) || !is_lab(word);
        if (takes_value(word))
            i++;
    }
    return false;
}

struct line {
    const struct command *command;
    const char *word; /* the command as written */
    const char *language;
    bool help, version;
};

/* The value of "--name value" or "--name=value", where `word` is argv[*i]; NULL when it is another
 * option. Moves *i on. */
static const char *option_value(const char *name, const char *word, int argc, char **argv, int *i)
{
    size_t len = strlen(name);
    if (strncmp(word, name, len) == 0 && word[len] == '=')
        return word + len + 1;
    if (strcmp(word, name) == 0 && *i + 1 < argc)
        return argv[++*i];
    return NULL;
}

static bool parse_option(struct cli *cli, struct line *line, int argc, char **argv, int *i,
                         int *used)
{
    const char *word = argv[*i], *value;
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        line->help = true;
    } else if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        line->version = true;
    } else if (strcmp(word, "--json") == 0) {
        cli->json = true;
        *used |= OPTION_JSON;
    } else if (strcmp(word, "--no-commit") == 0) {
        cli->no_commit = true;
        *used |= OPTION_NO_COMMIT;
    } else if (strcmp(word, "--ptx") == 0 || strcmp(word, "--sass") == 0) {
        *(strcmp(word, "--ptx") == 0 ? &cli->ptx : &cli->sass) = true;
        *used |= OPTION_LISTING;
    } else if ((value = option_value("--lang", word, argc, argv, i))) {
        line->language = value;
    } else if ((value = option_value("--backend", word, argc, argv, i))) {
        cli->backend = value;
        *used |= OPTION_BACKEND;
    } else if ((value = option_value("--svg", word, argc, argv, i))) {
        cli->svg = value;
        *used |= OPTION_PICTURE;
    } else if ((value = option_value("--trace", word, argc, argv, i))) {
        cli->trace = value;
        *used |= OPTION_PICTURE;
    } else {
        complain(_("unknown option %s; `stride --help` shows all"), word);
        return false;
    }
    return true;
}

static bool parse(struct cli *cli, struct line *line, int argc, char **argv)
{
    int used = 0;
    bool options = true;
    for (int i = 1; i < argc; i++) {
        if (options && strcmp(argv[i], "--") == 0) {
            options = false;
        } else if (options && argv[i][0] == '-' && argv[i][1]) {
            if (!parse_option(cli, line, argc, argv, &i, &used))
                return false;
        } else if (!line->word) {
            line->word = argv[i];
            line->command = find_command(argv[i]);
        } else if (cli->argument_count < CLI_ARGUMENTS) {
            cli->arguments[cli->argument_count++] = argv[i];
        }
    }
    if (line->help || line->version)
        return true;
    if (!line->command) {
        complain(_("there is no command %s; `stride --help` shows all"),
                 line->word ? line->word : "");
        return false;
    }
    bool fits =
        cli->argument_count >= line->command->least && cli->argument_count <= line->command->most;
    if (!fits || (used & ~line->command->options) || (cli->ptx && cli->sass)) {
        complain(_("usage: stride %s"), line->command->synopsis);
        return false;
    }
    if (cli->backend && strcmp(cli->backend, "auto") && strcmp(cli->backend, "gpu") &&
        strcmp(cli->backend, "sim")) {
        complain(_("--backend %s: it is one of auto, gpu and sim"), cli->backend);
        return false;
    }
    return true;
}

/* Output that could not be written is a failure, and not to be found out by its reader. */
static int flush(int status)
{
    if (fflush(stdout) != 0 || ferror(stdout)) {
        complain("%s", _("cannot write the output: is the disk full?"));
        return CLI_FAILED;
    }
    return status;
}

static int run_command(struct cli *cli, const struct line *line)
{
    struct err notice = {0}, err = {0};
    char *root = NULL;
    if (!path_find_root(&root, &err)) {
        complain("%s", err.text);
        return CLI_FAILED;
    }
    const char *language = charset_language(line->language, &notice);
    if (*notice.text)
        complain("%s", notice.text);
    notice = (struct err){0};
    if (!msg_load(root, language, &err))
        complain("%s", err.text);
    free(root);
    if (!library_open(&cli->library, &notice, &err)) {
        complain("%s", err.text);
        return CLI_BROKEN_LAB;
    }
    if (*notice.text)
        complain("%s", notice.text);
    int status = line->command->run(cli);
    history_close(cli->history);
    library_close(&cli->library);
    return status;
}

int cli_main(int argc, char **argv)
{
    struct cli cli = {0};
    struct line line = {0};
    setlocale(LC_ALL, "");
    setlocale(LC_NUMERIC, "C");
    char *root = NULL;
    if (path_find_root(&root, NULL))
        msg_load(root, charset_language(NULL, NULL),
                 NULL); /* for complaints about the command line */
    free(root);
    if (!parse(&cli, &line, argc, argv))
        return CLI_USAGE;
    if (line.help) {
        print_usage(stdout);
        return flush(CLI_OK);
    }
    if (line.version) {
        say("stride %s\n", STRIDE_VERSION);
        return flush(CLI_OK);
    }
    return flush(run_command(&cli, &line));
}
