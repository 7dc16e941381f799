/* Machine code made readable: nvdisasm, or cuobjdump where only that is there.
 *
 * A struct disasm owns the running tool; it borrows the toolkit and the machine code until
 * disasm_finish or disasm_abandon.
 *
 * It runs beside the other stages, since a disassembler takes longer than everything else. */
#ifndef STRIDE_HARNESS_DISASM_H
#define STRIDE_HARNESS_DISASM_H

#include "process.h"
#include "toolkit.h"

struct disasm {
    const struct toolkit *toolkit;
    const void *cubin;
    size_t cubin_len;
    int candidate; /* which of the tools found is running */
    int input;
    struct process process;
};

#define DISASM_DEADLINE_MS 15000.0

/* Starts the first disassembler there is. False: there is none, or none can be started; err is a
 * sentence for the pane. */
bool disasm_start(struct disasm *out, const struct toolkit *toolkit, const void *cubin, size_t len,
                  struct err *err);

/* Waits for the listing; where one tool fails, the next is tried. */
bool disasm_finish(struct disasm *disasm, struct buf *listing, struct err *err);
void disasm_abandon(struct disasm *disasm);

#endif
