/* From a host lab's kernel.cu to a shared object, by nvcc.
 *
 * A struct host_builder owns the options of one lab and borrows the toolkit; a struct host_build
 * owns what one compilation gave. Its files lie in the cache, or in a scratch folder that goes with
 * it.
 *
 * Errors in the source are a result (build.ok is false), never a struct err. The object is not
 * loaded here, and never into this process. */
#ifndef STRIDE_HARNESS_HOST_BUILD_H
#define STRIDE_HARNESS_HOST_BUILD_H

#include "compile.h"

struct host_builder {
    const struct toolkit *toolkit;
    struct nvcc nvcc;
    char arch[16]; /* "sm_90", or "compute_90" for PTX alone */
    char *lab_header;
    const char *entry; /* "streamsRun": streamsOpen and streamsClose have to be there too */
};

struct host_build {
    struct build build;   /* as for a kernel lab; PTX and cubin are those in the object */
    char *folder;         /* NULL when it failed */
    char *object, *lines; /* paths in it; `lines` is the table of harness/host/lines.h, if any */
    char *compiled_in;    /* the folder that line tables name */
    bool scratch, cached; /* folder is this build's own; it was there already */
};

/* Opens a builder for a lab and a device of capability `cc` (0: none). `entry` is borrowed. */
bool host_builder_open(struct host_builder *out, const struct toolkit *toolkit, const char *root,
                       const char *slug, const char *entry, int cc, struct err *err);
void host_builder_close(struct host_builder *builder);

/* Builds the file; complaints call it `name`, and headers of its own lie in `folder` (NULL: where
 * the file lies). False: the machine failed, not the source. */
bool host_build_make(const struct host_builder *builder, struct host_build *out, const char *path,
                     const char *folder, const char *name, struct err *err);
void host_build_free(struct host_build *build);

/* Takes the folder of the compilation out of a listing, so that it is the same for everyone. */
void host_build_strip(const struct host_build *build, struct buf *listing);

#endif
