/* A shared object that nvcc built from a kernel.cu, loaded into this process: the student's, the
 * lab's solution or its baseline.
 *
 * The struct owns the open object until the process ends; nothing is ever unloaded, since a thread
 * of the student's may still run in it.
 *
 * What it needs of CUDA is looked at before it is loaded. */
#ifndef STRIDE_HOST_OBJECT_H
#define STRIDE_HOST_OBJECT_H

#include "host_lab.h"

#include "harness/base/err.h"

struct object {
    void *handle;
    void (*open)(void *work);
    void (*run)(void *work);
    void (*close)(void *work);
};

/* The first function of the CUDA runtime or driver that the object needs and api.def lacks: true,
 * with its name cut to `len`. */
bool object_needs_unknown(const char *path, char *name, size_t len);

/* Loads it; code of the object runs here. False: err is a sentence about the object. */
bool object_load(struct object *out, const char *path, const struct host_lab *lab, struct err *err);

#endif
