/* list, log, diff, restore, reset. */
#include "cli_core.h"

#include "done.h"

#include "harness/base/file.h"
#include "harness/base/msg.h"
#include "harness/base/verdict.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { PAGE = 500 };

/* ---- list */

static json_t *to_do_as_json(const struct labfile *lab, const json_t *progress,
                             const json_t *answers)
{
    static const char *const steps[] = {"measured-with", "measured-without", "answered"};
    json_t *list = json_array();
    if (done_goal_is_open(progress)) {
        struct buf text = {0};
        done_name_goal(lab, progress, &text);
        json_array_append_new(list,
                              json_pack("{s:s, s:s}", "step", "goal", "text", buf_str(&text)));
        buf_free(&text);
    }
    for (unsigned i = 0; i < lab->done_count; i++) {
        const struct lab_done *done = &lab->done[i];
        struct buf text = {0};
        if (!done_is_open(lab, i, progress, answers))
            continue;
        done_name(lab, i, &text);
        json_t *one = json_pack("{s:s, s:s}", "step", steps[done->step], "text", buf_str(&text));
        if (done->landmark)
            json_object_set_new(one, "landmark", json_string(done->landmark));
        else
            json_object_set_new(one, "question", json_integer(done->question));
        json_array_append_new(list, one);
        buf_free(&text);
    }
    return list;
}

static json_t *lab_as_json(const struct labfile *lab, const json_t *progress, const json_t *answers)
{
    json_t *one = json_pack("{s:s, s:i, s:s, s:s, s:s, s:s}", "lab", lab->slug, "order",
                            (int)lab->order, "title", lab_text_get(&lab->title), "summary",
                            lab_text_get(&lab->summary), "capability", lab->capability, "kind",
                            lab->kind == LAB_KERNEL ? "kernel" : "host");
    if (json_is_object(progress))
        json_object_set(one, "progress", (json_t *)progress);
    json_object_set_new(one, "done", json_boolean(done_is(lab, progress, answers)));
    json_object_set_new(one, "to_do", to_do_as_json(lab, progress, answers));
    return one;
}

static void print_lab(const struct labfile *lab, const json_t *progress, const json_t *answers)
{
    struct buf to_do = {0};
    enum verdict best;
    bool tried = verdict_parse(&best, json_text_at(progress, "best"));
    bool in_part = done_in_part(lab, progress, answers);
    say("%s ", in_part ? DONE_IN_PART_MARK : tried ? verdict_mark(best) : " ");
    say_padded(lab->slug, 22);
    say_padded(in_part ? _("in part") : tried ? verdict_name(best) : "", 14);
    if (json_number_at(progress, "speedup") > 0)
        say("%5.2fx  ", json_number_at(progress, "speedup"));
    else
        say("        ");
    say("%s\n", lab_text_get(&lab->title));
    if (tried)
        done_say(lab, progress, answers, &to_do);
    if (to_do.len)
        say("    %s\n", buf_str(&to_do));
    buf_free(&to_do);
}

int cli_list(struct cli *cli)
{
    struct err notice = {0};
    json_t *state = library_load_state(&cli->library, "progress", &notice);
    json_t *quiz = library_load_state(&cli->library, "quiz", NULL);
    json_t *labs = json_array();
    if (*notice.text)
        complain("%s", notice.text);
    for (unsigned i = 0; i < cli->library.lab_count; i++) {
        const struct labfile *lab = cli->library.labs[i];
        const json_t *progress = json_object_get(state, lab->slug);
        const json_t *answers = json_object_get(quiz, lab->slug);
        if (cli->json)
            json_array_append_new(labs, lab_as_json(lab, progress, answers));
        else
            print_lab(lab, progress, answers);
    }
    if (cli->json)
        say_json(labs);
    json_decref(labs);
    json_decref(state);
    json_decref(quiz);
    return CLI_OK;
}

/* ---- log */

static void time_text(const struct history_entry *entry, char out[40])
{
    time_t shifted = (time_t)(entry->time_s + entry->offset_minutes * 60);
    struct tm parts;
    int offset = abs(entry->offset_minutes) % (24 * 60);
    size_t len = gmtime_r(&shifted, &parts) ? strftime(out, 28, "%Y-%m-%dT%H:%M:%S", &parts) : 0;
    snprintf(out + len, 40 - len, "%c%02d:%02d", entry->offset_minutes < 0 ? '-' : '+', offset / 60,
             offset % 60);
}

static json_t *entry_as_json(const struct history_entry *entry, const char *when)
{
    json_t *one =
        json_pack("{s:s, s:s, s:s}", "id", entry->id, "time", when, "subject", entry->subject);
    if (entry->attempt)
        json_object_set_new(one, "attempt", json_integer(entry->attempt));
    if (*entry->verdict)
        json_object_set_new(one, "verdict", json_string(entry->verdict));
    if (*entry->speedup)
        json_object_set_new(one, "speedup", json_string(entry->speedup));
    return one;
}

static void print_entry(const struct history_entry *entry, const char *when)
{
    char number[16] = "";
    if (entry->attempt)
        snprintf(number, sizeof number, "#%d", entry->attempt);
    say("%-6s %.10s %.5s  %-14s %-8s %.10s", number, when, when + 11, entry->verdict,
        entry->speedup, entry->id);
    say("%s%s\n", *entry->verdict ? "" : "  ", *entry->verdict ? "" : entry->subject);
}

int cli_log(struct cli *cli)
{
    const struct labfile *lab = cli_lab(cli, cli->arguments[0]);
    if (!lab)
        return CLI_USAGE;
    if (!cli_open_history(cli))
        return CLI_FAILED;
    struct history_entry *entries = mem_zero(PAGE, sizeof *entries);
    json_t *list = json_array();
    struct err err = {0};
    size_t seen = 0, count = 0;
    bool more = true, ok = true;
    while (ok && more) {
        ok = history_list(cli->history, lab->slug, seen, PAGE, entries, &count, &more, &err);
        for (size_t i = 0; ok && i < count; i++) {
            char when[40];
            time_text(&entries[i], when);
            if (cli->json)
                json_array_append_new(list, entry_as_json(&entries[i], when));
            else
                print_entry(&entries[i], when);
        }
        seen += count;
    }
    if (*err.text)
        complain("%s", err.text);
    if (cli->json)
        say_json(list);
    else if (ok && !seen)
        say(_("no attempts yet: `stride run %s` makes the first\n"), lab->slug);
    json_decref(list);
    free(entries);
    return ok ? CLI_OK : CLI_FAILED;
}

/* ---- diff, restore, reset */

static bool find(struct cli *cli, const struct labfile *lab, const char *name,
                 struct history_entry *out)
{
    struct err err = {0};
    if (history_find(cli->history, lab->slug, name, out, &err))
        return true;
    complain("%s", err.text);
    return false;
}

int cli_diff(struct cli *cli)
{
    const struct labfile *lab = cli_lab(cli, cli->arguments[0]);
    struct history_entry a, b;
    if (!lab)
        return CLI_USAGE;
    if (!cli_open_history(cli))
        return CLI_FAILED;
    const char *second = cli->argument_count > 2 ? cli->arguments[2] : NULL;
    if (!find(cli, lab, cli->argument_count > 1 ? cli->arguments[1] : "last", &a) ||
        (second && !find(cli, lab, second, &b)))
        return CLI_USAGE;
    enum history_file file = cli->ptx ? HISTORY_PTX : cli->sass ? HISTORY_SASS : HISTORY_KERNEL;
    struct buf text = {0};
    struct err err = {0};
    bool ok = history_diff(cli->history, lab->slug, a.id, second ? b.id : NULL, file, &text, &err);
    if (ok)
        say_text(buf_str(&text), text.len);
    else
        complain("%s", err.text);
    buf_free(&text);
    return ok ? CLI_OK : CLI_FAILED;
}

int cli_restore(struct cli *cli)
{
    const struct labfile *lab = cli_lab(cli, cli->arguments[0]);
    struct history_entry entry;
    struct err err = {0};
    if (!lab)
        return CLI_USAGE;
    if (!cli_open_history(cli))
        return CLI_FAILED;
    if (!find(cli, lab, cli->arguments[1], &entry))
        return CLI_USAGE;
    if (!history_restore(cli->history, lab->slug, entry.id, &err)) {
        complain("%s", err.text);
        return CLI_FAILED;
    }
    say(_("restored %s; what was there before is in the history too\n"), entry.subject);
    return CLI_OK;
}

/* Without a history nothing may be lost either: the old text is kept under another name. */
static bool keep_aside(const char *path, char **aside, struct err *err)
{
    struct buf text = {0};
    bool ok = !file_exists(path) || file_read(&text, path, 1 << 20, err);
    *aside = NULL;
    for (int i = 1; ok && file_exists(path) && !*aside; i++) {
        char *name = mem_printf("%s.before-reset-%d", path, i);
        if (file_exists(name)) {
            free(name);
            continue;
        }
        ok = file_write(name, buf_str(&text), text.len, false, err);
        *aside = name;
    }
    buf_free(&text);
    return ok;
}

static bool reset_without_history(struct cli *cli, const struct labfile *lab,
                                  const struct buf *starter, struct err *err)
{
    char *path = library_work_path(&cli->library, lab->slug, "kernel.cu"), *aside = NULL;
    bool ok = library_prepare(&cli->library, lab, NULL, err) && keep_aside(path, &aside, err) &&
              file_write(path, buf_str(starter), starter->len, false, err);
    if (ok && aside)
        say(_("your text is kept as %s\n"), aside);
    free(aside);
    free(path);
    return ok;
}

int cli_reset(struct cli *cli)
{
    const struct labfile *lab = cli_lab(cli, cli->arguments[0]);
    if (!lab)
        return CLI_USAGE;
    struct err err = {0};
    struct buf starter = {0};
    char *path = library_starter_path(&cli->library, lab->slug, true);
    char *subject = mem_printf("%s: reset to the starter", lab->slug);
    bool ok = file_read(&starter, path, 1 << 20, &err);
    if (ok && cli_open_history(cli))
        ok = history_commit_kernel(cli->history, lab->slug, &starter, subject, &err);
    else if (ok)
        ok = reset_without_history(cli, lab, &starter, &err);
    if (ok)
        say(_("%s holds the starter again\n"), lab->slug);
    else
        complain("%s", err.text);
    buf_free(&starter);
    free(subject);
    free(path);
    return ok ? CLI_OK : CLI_FAILED;
}
