/* Panes that hand a whole text to the module that knows its language: lesson and listings. */
#include "tui/pane.h"

#include "harness/base/msg.h"
#include "tui/glossary.h"
#include "tui/listing.h"
#include "tui/markup.h"

#include <string.h>

void pane_build_lesson(const struct app *app, struct doc *doc, int columns)
{
    const struct buf *text = &app->text[TEXT_LESSON];
    const struct markup_options options = {.columns = columns};
    if (text->len == 0)
        pane_paragraph(doc, STYLE_DIM, _("Choose a lab in the course (o) and press Enter."));
    markup_add(doc, buf_str(text), text->len, &options);
}

/* Why there is no listing: it was skipped, the kernel did not compile, or nothing ran yet. */
static void explain_missing(const struct app *app, struct doc *doc)
{
    const json_t *record = app_record(app);
    const char *why = pane_skipped_why(record, "disasm");
    if (*why)
        pane_paragraph(doc, STYLE_WARN, why);
    else if (strcmp(record_text(record, "verdict"), "no-build") == 0)
        pane_paragraph(
            doc, STYLE_DIM,
            _("The kernel did not compile, so there is no listing. 3 shows the messages."));
    else
        pane_paragraph(doc, STYLE_DIM,
                       _("After a run this shows the listing of the very binary that ran."));
}

static void build_listing(const struct app *app, struct doc *doc, enum lab_listing kind,
                          const struct buf *text)
{
    const struct labfile *lab = app_lab(app);
    struct listing listing = {0};
    struct listing_options options = {0};
    if (text->len == 0) {
        explain_missing(app, doc);
        return;
    }
    options.noise = app->noise;
    if (lab) {
        options.landmarks = lab->landmarks;
        options.landmark_count = lab->landmarks_count;
    }
    listing_build(&listing, kind, buf_str(text), text->len, &options);
    *doc = listing.doc; /* moved: the pane owns it now */
    listing.doc = (struct doc){0};
    listing_free(&listing);
}

void pane_build_ptx(const struct app *app, struct doc *doc, int columns)
{
    (void)columns;
    build_listing(app, doc, LISTING_PTX, &app_exhibit(app)->ptx);
}

void pane_build_sass(const struct app *app, struct doc *doc, int columns)
{
    (void)columns;
    build_listing(app, doc, LISTING_SASS, &app_exhibit(app)->sass);
}

/* The landmark that the opcode is one of; NULL for none. */
static const struct lab_landmark *find_landmark(const struct labfile *lab, enum lab_listing kind,
                                                const char *opcode, size_t len)
{
    for (unsigned i = 0; lab && i < lab->landmarks_count; i++) {
        const struct lab_landmark *landmark = &lab->landmarks[i];
        size_t match = strlen(landmark->match);
        if (landmark->listing == kind && match <= len &&
            memcmp(opcode, landmark->match, match) == 0)
            return landmark;
    }
    return NULL;
}

int pane_foot_rows(enum pane pane, int rows)
{
    enum { FOOT = 3, LEAST = 12 };
    return (pane == PANE_PTX || pane == PANE_SASS) && rows >= LEAST ? FOOT : 0;
}

void pane_explain(const struct app *app, enum pane pane, struct buf *out)
{
    enum lab_listing kind = pane == PANE_PTX ? LISTING_PTX : LISTING_SASS;
    const struct doc_line *line = viewer_current(&app->pane[pane].viewer);
    size_t len = 0;
    if ((pane != PANE_PTX && pane != PANE_SASS) || !line)
        return;
    const char *opcode = listing_opcode(line, &len);
    const struct lab_landmark *landmark = opcode && line->tag & LISTING_LANDMARK
                                              ? find_landmark(app_lab(app), kind, opcode, len)
                                              : NULL;
    if (landmark)
        buf_printf(out, "* %s: %s", landmark->name, lab_text_get(&landmark->text));
    else if (!opcode || !glossary_explain(app->glossary, kind, line, out)) {
        const struct doc *doc = &app->pane[pane].doc;
        const char *kernel = listing_kernel(doc, (uint32_t)(line - doc->lines), &len);
        if (kernel)
            buf_printf(out, _("in %.*s"), (int)len, kernel);
    }
}
