/* The handlers of one instruction set, by number. */
#include "harness/ptx/handlers.h"

op_run *const ISA(exec_table)[H_COUNT] = {
#define H(name) [H_##name] = OP_NAME(name),
#include "harness/ptx/handlers.def"
#undef H
};
