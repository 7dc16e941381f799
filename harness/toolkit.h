/* Where the parts of the CUDA Toolkit are on this machine.
 *
 * A struct toolkit owns every string in it. Parts may come from different places: the first place
 * in the order below that has a part supplies it, and NVRTC's built-ins and headers come from the
 * place of NVRTC itself when that has them. Order: $STRIDE_CUDA, $CUDA_HOME, $CUDA_PATH, the nvcc
 * on PATH (absolute entries only), ROOT/.deps/cuda, /usr/local/cuda, /usr/local/cuda-* from new to
 * old, /opt/cuda, and the system's own folders below /usr.
 *
 * It opens no library and starts no program; what is found may still turn out to be broken. */
#ifndef STRIDE_HARNESS_TOOLKIT_H
#define STRIDE_HARNESS_TOOLKIT_H

#include "harness/base/err.h"

enum toolkit_part {
    PART_NVRTC,
    PART_BUILTINS,
    PART_HEADERS, /* the folder that holds cuda_fp16.h */
    PART_NVCC,
    PART_PTXAS,
    PART_NVDISASM,
    PART_CUOBJDUMP,
    PART_SANITIZER,
    PART_CUDART, /* the CUDA runtime as a library, for host labs */
    PART_CUPTI,
    PART_CUBLAS,
    PART_COUNT
};

enum { TOOLKIT_PLACES = 32 };

struct toolkit_place {
    char *folder;            /* absolute, without a slash at the end */
    char *origin;            /* "$CUDA_HOME", "PATH", "/usr/local/cuda": why it was looked at */
    unsigned version;        /* 13000 for 13.0; 0 when nothing there says so */
    char *parts[PART_COUNT]; /* absolute paths; NULL where it lacks the part */
};

struct toolkit {
    struct toolkit_place places[TOOLKIT_PLACES]; /* only those that have a part, in order */
    int count;
    const char *parts[PART_COUNT]; /* the one in use, borrowed from its place; NULL when nowhere */
    int used[PART_COUNT];          /* index of that place, -1 when nowhere */
    char *complaints[4];           /* variables that name no toolkit, one sentence each */
    int complaint_count;
};

/* Looks for everything; finding nothing is not a failure. `system_root` is put in front of the
 * fixed folders and is "" but in tests; `root` is Stride's own folder. */
void toolkit_find(struct toolkit *out, const char *root, const char *system_root);
void toolkit_free(struct toolkit *toolkit);

/* "NVRTC", "nvdisasm": as a person calls it. Static. */
const char *toolkit_part_name(enum toolkit_part part);

/* Where a part was looked for, as a list for a sentence; free() it. */
char *toolkit_searched(const char *root);

#endif
