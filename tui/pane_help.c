/* Help, made from the command table; and the hint that fits the last result. */
#include "tui/pane.h"

#include "harness/base/msg.h"

#include <stdio.h>
#include <string.h>

enum { KEYS = 20 };

static void add_command(struct doc *doc, const char *keys, const char *help)
{
    doc_printf(doc, STYLE_KEY, "  %s", keys);
    pane_pad(doc, 2 + text_columns(keys, strlen(keys)), KEYS);
    doc_add_str(doc, STYLE_NORMAL, help);
    doc_end_line(doc)->indent = KEYS;
}

void pane_build_help(const struct app *app, struct doc *doc, int columns)
{
    (void)app;
    (void)columns;
    pane_paragraph(
        doc, STYLE_NORMAL,
        _("Read the lesson, edit the kernel, look at the results; each digit shows a pane. "
          "Everything here is also a plain command: see stride --help."));
    doc_add_str(doc, STYLE_HEADING, _("Panes"));
    doc_end_line(doc);
    for (int i = 0; i < PANE_HELP; i++) {
        struct pane_facts facts = pane_facts((enum pane)i);
        char key[2] = {(char)facts.key, '\0'};
        add_command(doc, key, facts.title);
    }
    for (int context = 0; context < CONTEXT_COUNT; context++) {
        bool titled = false;
        for (int i = 1; i < COMMAND_COUNT; i++) {
            enum command command = (enum command)i;
            if ((int)command_context(command) != context)
                continue;
            if (!titled)
                pane_heading(doc, context_title((enum context)context));
            titled = true;
            add_command(doc, command_keys(command), command_help(command));
        }
    }
    pane_heading(doc, _("Marks"));
    for (int i = 0; i < VERDICT_COUNT; i++) {
        enum style style;
        const char *name = verdict_name((enum verdict)i);
        const char *mark = verdict_mark_of(name, &style);
        doc_printf(doc, style, "  %s %-15s", mark, name);
        pane_pad(doc, 19, KEYS);
        doc_add_str(doc, STYLE_NORMAL, verdict_meaning((enum verdict)i));
        doc_end_line(doc)->indent = KEYS;
    }
}

/* Whether some object of this list has the word at `key`; with `missed`, one that is not ok. */
static bool list_names(const json_t *list, const char *key, const char *word, bool missed)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        if (strcmp(record_text(one, key), word) == 0 &&
            (!missed || json_is_false(record_at(one, "ok"))))
            return true;
    }
    return false;
}

/* How near a hint is to what the record says. */
enum closeness { FAR, ANY_TIME, VERDICT, CAUSE };

/* What names the very cause is closer than what fits each attempt with this verdict. */
static enum closeness closeness_of(const struct lab_hint *hint, const json_t *record)
{
    if (strcmp(hint->when, "any") == 0)
        return ANY_TIME;
    if (strcmp(hint->when, record_text(record, "verdict")) == 0)
        return VERDICT;
    bool fits = list_names(record_at(record, "hazards"), "kind", hint->when, false) ||
                list_names(record_at(record, "cases"), "fault.kind", hint->when, false) ||
                list_names(record_at(record, "structure"), "name", hint->when, true) ||
                (strcmp(hint->when, "slow") == 0 &&
                 json_is_false(record_at(record, "timing.goal_reached")));
    return fits ? CAUSE : FAR;
}

/* The closest first, those for any time last. */
static int collect(const struct app *app, const struct lab_hint *out[], int most)
{
    const struct labfile *lab = app_lab(app);
    int count = 0;
    for (enum closeness wanted = CAUSE; wanted > FAR; wanted--)
        for (unsigned i = 0; lab && i < lab->hints_count && count < most; i++)
            if (closeness_of(&lab->hints[i], app_record(app)) == wanted)
                out[count++] = &lab->hints[i];
    return count;
}

void pane_build_hint(const struct app *app, struct doc *doc, int columns)
{
    const struct lab_hint *hints[16];
    int count = collect(app, hints, 16);
    (void)columns;
    for (int i = 0; i < count && i < app->hints_shown; i++) {
        doc_printf(doc, STYLE_KEY, "%d/%d  ", i + 1, count);
        pane_hang(doc, i == app->hints_shown - 1 ? STYLE_NORMAL : STYLE_DIM,
                  lab_text_get(&hints[i]->text), 5, 0);
        if (i + 1 < count && i + 1 < app->hints_shown)
            doc_add_str(doc, STYLE_NORMAL, "\n");
    }
    if (count == 0)
        doc_add_str(doc, STYLE_DIM, _("This lab has no hint for that.\n"));
    else if (app->hints_shown > count)
        doc_add_str(doc, STYLE_DIM, _("\nThat was the last one. The lesson says the rest.\n"));
}
