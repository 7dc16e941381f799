/* From instructions to operations: every instruction is looked up in ops.def, its operands become
 * offsets into the register window, basic blocks get their joins.
 *
 * What it makes lives in the module's arena.
 *
 * An instruction that ops.def does not list becomes an operation that stops the launch and names
 * it; no form is ever taken for another. */
#ifndef STRIDE_PTX_DECODE_H
#define STRIDE_PTX_DECODE_H

#include "harness/ptx/module.h"

/* Lays out variables, decodes every function, fills module->public. */
bool decode_module(struct module *module, struct err *err);

#endif
