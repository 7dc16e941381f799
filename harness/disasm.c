#include "disasm.h"

#include "emit.h"

#include "harness/base/clean.h"
#include "harness/base/file.h"
#include "harness/base/msg.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tool {
    const char *path;
    enum toolkit_part part;
};

/* Candidates in order: the nvdisasm of NVRTC's own toolkit, every other nvdisasm (an older one may
 * not read this code), then every cuobjdump. */
static bool find_tool(const struct toolkit *toolkit, int index, struct tool *out)
{
    static const enum toolkit_part parts[] = {PART_NVDISASM, PART_CUOBJDUMP};
    int own = toolkit->used[PART_NVRTC];
    for (int k = 0; k < 2; k++)
        for (int i = -1; i < toolkit->count; i++) {
            int place = i < 0 ? own : i;
            if (place < 0 || (i >= 0 && i == own) || !toolkit->places[place].parts[parts[k]])
                continue;
            if (index-- == 0) {
                *out = (struct tool){toolkit->places[place].parts[parts[k]], parts[k]};
                return true;
            }
        }
    return false;
}

static bool start_tool(struct disasm *disasm, const struct tool *tool, struct err *err)
{
    char *path = mem_strdup(tool->path), *extra = NULL;
    char code[] = "-c", lines[] = "-gi", sass[] = "-sass", file[] = "/proc/self/fd/4";
    char *nvdisasm[] = {path, code, lines, file, NULL};
    char *cuobjdump[] = {path, sass, file, NULL};
    if (tool->part == PART_CUOBJDUMP && disasm->toolkit->parts[PART_NVDISASM])
        extra = mem_printf("NVDISASM_PATH=%s", disasm->toolkit->parts[PART_NVDISASM]);
    bool ok = process_start(&disasm->process, tool->part == PART_NVDISASM ? nvdisasm : cuobjdump,
                            "/", disasm->input, extra, err);
    disasm->process.name = toolkit_part_name(tool->part);
    free(extra);
    free(path);
    return ok;
}

static bool start_next(struct disasm *disasm, struct err *err)
{
    struct tool tool;
    while (find_tool(disasm->toolkit, disasm->candidate, &tool)) {
        disasm->candidate++;
        if (start_tool(disasm, &tool, err))
            return true;
    }
    return false;
}

bool disasm_start(struct disasm *out, const struct toolkit *toolkit, const void *cubin, size_t len,
                  struct err *err)
{
    *out = (struct disasm){.toolkit = toolkit, .cubin = cubin, .cubin_len = len, .input = -1};
    err_set(err, "%s",
            _("no disassembler on this machine: `make deps` in Stride's folder fetches nvdisasm, "
              "or install the package cuda-nvdisasm"));
    struct tool tool;
    if (!find_tool(toolkit, 0, &tool))
        return false;
    out->input = process_make_input(cubin, len, err);
    if (out->input >= 0 && start_next(out, err))
        return true;
    disasm_abandon(out);
    return false;
}

/* The first line a tool complained with. */
static char *first_line(const struct buf *text)
{
    struct buf line = {.cap = 300};
    const char *bytes = buf_str(text);
    clean_line(&line, bytes, strcspn(bytes, "\n"));
    return buf_take(&line);
}

static bool take_listing(struct disasm *disasm, struct buf *listing, struct err *err)
{
    struct process_result result;
    const char *name = disasm->process.name;
    if (!process_finish(&disasm->process, &result, DISASM_DEADLINE_MS, err))
        return false;
    bool ok = true;
    if (result.timed_out) {
        ok = err_set(err, _("%s did not end within %.0f s"), name, DISASM_DEADLINE_MS / 1000);
    } else if (result.status != 0 || result.out.len == 0) {
        char *why = first_line(&result.text);
        ok = err_set(err, _("%s failed (status %d): %s"), name, result.status,
                     *why ? why : _("it gave no reason"));
        free(why);
    } else {
        clean_text(listing, buf_str(&result.out), result.out.len);
        listing->cut = result.out.cut;
    }
    process_result_free(&result);
    return ok;
}

bool disasm_finish(struct disasm *disasm, struct buf *listing, struct err *err)
{
    bool ok = take_listing(disasm, listing, err);
    while (!ok && start_next(disasm, err))
        ok = take_listing(disasm, listing, err);
    disasm_abandon(disasm);
    return ok;
}

void disasm_abandon(struct disasm *disasm)
{
    process_abandon(&disasm->process);
    if (disasm->input >= 0)
        close(disasm->input);
    disasm->input = -1;
}
