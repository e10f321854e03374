// SPDX-License-Identifier: Apache-2.0
/* The Python frames of the calling thread. Nothing of Python is linked: what the process
 * exports is looked up once Python is seen in it.
 *
 * With the interpreter's lock held, frames are read as objects, with the garbage
 * collector held off: a collection inside a capture could destroy what must not be
 * destroyed there. Without it, the interpreter's own dump of a thread's frames for
 * crashes is used, which takes no reference; no other thread changes the frames of this
 * one. */
#define _GNU_SOURCE
#include "attach/peek/python.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FRAMES_MAX = 64 };

typedef void *object; /* PyObject * */

#define NEEDED(X)                                                                        \
    X(int, Py_IsInitialized, (void))                                                     \
    X(int, PyGILState_Check, (void))                                                     \
    X(void *, PyGILState_GetThisThreadState, (void))                                     \
    X(object, PyEval_GetFrame, (void))                                                   \
    X(object, PyObject_GetAttrString, (object, const char *))                            \
    X(const char *, PyUnicode_AsUTF8, (object))                                          \
    X(long, PyLong_AsLong, (object))                                                     \
    X(void, Py_IncRef, (object))                                                         \
    X(void, Py_DecRef, (object))                                                         \
    X(void, PyErr_Fetch, (object *, object *, object *))                                 \
    X(void, PyErr_Restore, (object, object, object))

static struct {
#define X(type, name, arguments) type(*name) arguments;
    NEEDED(X)
#undef X
    int (*PyGC_Disable)(void), (*PyGC_Enable)(void); /* 3.10 and later, else NULL */
    void (*_Py_DumpTraceback)(int, void *);          /* where it is exported, else NULL */
} py;

static _Atomic int state;          /* 0 not looked for, 1 being looked for, 2 there */
static _Atomic uint64_t looked_at; /* `loaded` of the last look */

bool attach_python_is_known(void)
{
    return atomic_load_explicit(&state, memory_order_acquire) == 2;
}

bool attach_python_is_there(uint64_t loaded)
{
    int expected = 0;
    if (attach_python_is_known())
        return true;
    if (atomic_exchange(&looked_at, loaded) == loaded)
        return false;
    if (!atomic_compare_exchange_strong(&state, &expected, 1))
        return false;
    bool all = true;
#define X(type, name, arguments)                                                         \
    *(void **)&py.name = all ? dlsym(RTLD_DEFAULT, #name) : NULL;                        \
    all = all && py.name != NULL;
    NEEDED(X)
#undef X
    if (all) {
        *(void **)&py.PyGC_Disable = dlsym(RTLD_DEFAULT, "PyGC_Disable");
        *(void **)&py.PyGC_Enable = dlsym(RTLD_DEFAULT, "PyGC_Enable");
        *(void **)&py._Py_DumpTraceback = dlsym(RTLD_DEFAULT, "_Py_DumpTraceback");
    }
    atomic_store_explicit(&state, all ? 2 : 0, memory_order_release);
    return all;
}

/* Adds "file:line function"; false: no room. */
static bool put_frame(char *text, size_t bytes, size_t *used, const char *file, long line,
                      const char *function)
{
    const int more =
        snprintf(text + *used, bytes - *used, "%s:%ld %s\n", file, line, function);
    if (more < 0 || (size_t)more >= bytes - *used) {
        text[*used] = '\0';
        return false;
    }
    *used += (size_t)more;
    return true;
}

/* ---- with the lock ---- */

static bool put_object(char *text, size_t bytes, size_t *used, object frame)
{
    bool is_put = false;
    object line = py.PyObject_GetAttrString(frame, "f_lineno");
    object code = py.PyObject_GetAttrString(frame, "f_code");
    object file = code != NULL ? py.PyObject_GetAttrString(code, "co_filename") : NULL;
    object name = code != NULL ? py.PyObject_GetAttrString(code, "co_name") : NULL;
    const char *file_text = file != NULL ? py.PyUnicode_AsUTF8(file) : NULL;
    const char *name_text = name != NULL ? py.PyUnicode_AsUTF8(name) : NULL;
    if (line != NULL && file_text != NULL && name_text != NULL)
        is_put =
            put_frame(text, bytes, used, file_text, py.PyLong_AsLong(line), name_text);
    object all[] = {line, code, file, name};
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        py.Py_DecRef(all[i]); /* NULL is allowed */
    return is_put;
}

static size_t by_objects(char *text, size_t bytes)
{
    object type, value, trace;
    size_t used = 0;
    const int collects = py.PyGC_Disable != NULL ? py.PyGC_Disable() : 0;
    py.PyErr_Fetch(&type, &value, &trace);
    object frame = py.PyEval_GetFrame(); /* lent */
    py.Py_IncRef(frame);
    for (int i = 0; i < FRAMES_MAX && frame != NULL; i++) {
        object back = put_object(text, bytes, &used, frame)
                          ? py.PyObject_GetAttrString(frame, "f_back")
                          : NULL;
        py.Py_DecRef(frame);
        frame = back;
    }
    py.Py_DecRef(frame);
    py.PyErr_Restore(type, value, trace); /* drops what the above has raised */
    if (collects && py.PyGC_Enable != NULL)
        py.PyGC_Enable();
    return used;
}

/* ---- without ---- */

/* Of lines like:   File "engine.py", line 31 in capture */
static size_t read_dump(const char *dump, char *text, size_t bytes)
{
    size_t used = 0;
    for (const char *line = dump; (line = strstr(line, "  File \"")) != NULL; line++) {
        const char *file = line + 8;
        const char *file_end = strstr(file, "\", line ");
        const char *end = strchr(file, '\n');
        if (file_end == NULL || end == NULL || file_end > end)
            break;
        long number = 0;
        int at = 0;
        if (sscanf(file_end + 8, "%ld in %n", &number, &at) < 1 || at == 0)
            continue;
        char path[1024], function[256];
        snprintf(path, sizeof(path), "%.*s", (int)(file_end - file), file);
        snprintf(function, sizeof(function), "%.*s", (int)(end - (file_end + 8 + at)),
                 file_end + 8 + at);
        if (!put_frame(text, bytes, &used, path, number, function))
            break;
    }
    return used;
}

/* A program that closes files which it does not know may have its own under the number.
 */
static bool is_ours(const attach_dump *dump)
{
    struct stat info;
    return dump->file != 0 && fstat(dump->file - 1, &info) == 0 &&
           info.st_dev == dump->device && info.st_ino == dump->inode;
}

void attach_dump_close(attach_dump *dump)
{
    if (is_ours(dump))
        close(dump->file - 1);
    dump->file = 0;
}

static void open_dump(attach_dump *dump)
{
    struct stat info;
    dump->file = memfd_create("gph-python", MFD_CLOEXEC) + 1;
    if (dump->file == 0 || fstat(dump->file - 1, &info) != 0)
        return;
    dump->device = info.st_dev;
    dump->inode = info.st_ino;
}

static size_t by_dump(char *text, size_t bytes, attach_dump *dump)
{
    void *thread = py.PyGILState_GetThisThreadState();
    if (py._Py_DumpTraceback == NULL || thread == NULL)
        return 0;
    if (!is_ours(dump))
        open_dump(dump);
    const int fd = dump->file - 1;
    if (fd < 0 || ftruncate(fd, 0) != 0 || lseek(fd, 0, SEEK_SET) != 0)
        return 0;
    py._Py_DumpTraceback(fd, thread);
    const ssize_t count = pread(fd, dump->text, sizeof(dump->text) - 1, 0);
    dump->text[count > 0 ? count : 0] = '\0';
    return read_dump(dump->text, text, bytes);
}

size_t attach_python(char *text, size_t bytes, attach_dump *dump)
{
    if (!py.Py_IsInitialized())
        return 0;
    return py.PyGILState_Check() ? by_objects(text, bytes) : by_dump(text, bytes, dump);
}
