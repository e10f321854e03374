// SPDX-License-Identifier: Apache-2.0
/* Everybody's tensors. How a type gives its tensors is found out once and remembered:
 *
 *   EXCHANGE  its C table (DLPack 1.3, PyTorch 2.10 and later): a call of C, no object is made
 *   ARRAY     NumPy's arrays, read where they lie: host memory, which softcuda's device memory
 *             is, too
 *   BUFFER    the buffer protocol: host memory as well
 *   DLPACK    __dlpack__(): a method call and a capsule */
#include "gphpy.h"

#include "dlpack.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum way { NEW, EXCHANGE, ARRAY, BUFFER, DLPACK };

struct entry {
    PyTypeObject *type; /* kept, so that no other type gets its address */
    enum way way;
    const dl_exchange *api;
    bool
        asks; /* PyTorch's: views may stand for the conjugate or the negative of what lies there */
    gphpy_question *is_neg; /* the same in C, or NULL: by its method */
};

enum { ENTRIES = 64 };
static _Atomic(struct entry *) entries[ENTRIES]; /* by address; written once each */

static PyObject *exchange_name, *dlpack_name, *device_name, *conj_name, *neg_name,
    *handle_name;
static PyObject *host_args, *device_args; /* of __dlpack__ */

/* ---- element types ---- */

/* By DLPack's code, then by the power of two of the bytes: a hit looks up each tensor's. */
enum { CODES = 13, WIDTHS = 5 };
static const uint8_t dtypes[CODES][WIDTHS] = {
    [DL_INT] = {GPH_DTYPE_I8, GPH_DTYPE_I16, GPH_DTYPE_I32, GPH_DTYPE_I64},
    [DL_UINT] = {GPH_DTYPE_U8, GPH_DTYPE_U16, GPH_DTYPE_U32, GPH_DTYPE_U64},
    [DL_FLOAT] = {0, GPH_DTYPE_F16, GPH_DTYPE_F32, GPH_DTYPE_F64},
    [DL_BFLOAT] = {0, GPH_DTYPE_BF16},
    [DL_COMPLEX] = {0, 0, 0, GPH_DTYPE_C64, GPH_DTYPE_C128},
    [DL_BOOL] = {GPH_DTYPE_BOOL},
    [DL_F8E4M3] = {GPH_DTYPE_F8E4M3},
    [DL_F8E4M3FN] = {GPH_DTYPE_F8E4M3},
    [DL_F8E5M2] = {GPH_DTYPE_F8E5M2},
};

static uint32_t dtype_of(dl_type type)
{
    const uint32_t bytes = type.bits / 8u;
    const int width = bytes ? __builtin_ctz(bytes) : WIDTHS;
    const bool is_known = type.lanes == 1 && type.code < CODES && width < WIDTHS &&
                          type.bits == 8u << width;
    return is_known ? dtypes[type.code][width] : 0;
}

/* ---- what is read ---- */

struct reading {
    gphpy_runtime *runtime;
    const char *what; /* of the error: "input 3" */
    Py_ssize_t index;
};

static int refuse(const struct reading *r, const char *why)
{
    if (!PyErr_Occurred())
        gphpy_invalid("%s %zd %s", r->what, r->index, why);
    return -1;
}

/* Host memory is device memory on softcuda, and nowhere else. */
static int check_device(const struct reading *r, int32_t type)
{
    if (type == DL_CUDA || type == DL_CUDA_MANAGED || type == DL_CUDA_HOST ||
        (type == DL_CPU && r->runtime->is_soft))
        return 0;
    return refuse(r, type == DL_CPU
                         ? "lies in host memory, which only softcuda reads as its own"
                         : "lies on a device that is not CUDA's");
}

static int read_view(const struct reading *r, const dl_tensor *from, gph_tensor *out)
{
    if (check_device(r, from->device.type) < 0)
        return -1;
    if (from->rank < 0 || from->rank > GPH_TENSOR_RANK_MAX)
        return refuse(r, "has more than 8 dimensions");
    out->data = (CUdeviceptr)(uintptr_t)from->data + from->byte_offset;
    out->dtype = dtype_of(from->type);
    out->rank = (uint32_t)from->rank;
    if (out->dtype == 0)
        return refuse(r, "has an element type that libgph does not know");
    int64_t dense = 1;
    for (int32_t i = from->rank; i-- > 0;) {
        out->shape[i] = from->shape[i];
        out->stride[i] = from->strides ? from->strides[i] : dense;
        dense *= from->shape[i];
    }
    return 0;
}

/* 1, 0, or -1 with an exception. */
static int answer_of(PyObject *object, PyObject *method)
{
    PyObject *answer = PyObject_CallMethodNoArgs(object, method);
    const int truth = answer ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    return truth;
}

/* DLPack has no word for such views: the elements are not what lies in memory. */
static int check_plain(const struct reading *r, const struct entry *entry,
                       PyObject *object, uint32_t dtype)
{
    if (!entry->asks)
        return 0;
    int truth = 0;
    if (dtype == GPH_DTYPE_C64 || dtype == GPH_DTYPE_C128)
        truth = answer_of(object, conj_name);
    if (truth != 0)
        return truth < 0
                   ? -1
                   : refuse(r, "is a conjugate view, which lies in memory as it was "
                               "before: resolve_conj() makes a plain one");
    truth = entry->is_neg ? entry->is_neg(gphpy_handle_of(object))
                          : answer_of(object, neg_name);
    if (truth != 0)
        return truth < 0 ? -1
                         : refuse(r, "is a negative view, which lies in memory as it was "
                                     "before: resolve_neg() makes a plain one");
    return 0;
}

static int read_exchange(const struct reading *r, const dl_exchange *api,
                         PyObject *object, gph_tensor *out)
{
    dl_tensor view;
    if (api->tensor_from_object)
        return api->tensor_from_object(object, &view) == 0
                   ? read_view(r, &view, out)
                   : refuse(r, "gave no DLPack tensor");
    dl_versioned *managed = NULL;
    if (api->managed_from_object(object, &managed) != 0)
        return refuse(r, "gave no DLPack tensor");
    const int status = read_view(r, &managed->tensor, out);
    if (managed->deleter)
        managed->deleter(managed);
    return status;
}

/* The letter of a struct format, native: size follows from the item. */
static uint32_t dtype_of_format(const char *format, Py_ssize_t bytes)
{
    if (!format)
        return GPH_DTYPE_U8;
    while (*format == '@' || *format == '=' || *format == '<')
        format++;
    const bool is_complex = *format == 'Z';
    format += is_complex;
    if (*format == '\0' || format[1] != '\0')
        return 0;
    uint8_t code = strchr("bhilqn", *format) ? DL_INT : DL_UINT;
    if (strchr("efd", *format))
        code = is_complex ? DL_COMPLEX : DL_FLOAT;
    else if (*format == '?')
        code = DL_BOOL;
    else if (!strchr("bhilqnBHILQN", *format) || is_complex)
        return 0;
    return bytes > 16 ? 0 : dtype_of((dl_type){code, (uint8_t)(8 * bytes), 1});
}

static int read_buffer(const struct reading *r, PyObject *object, gph_tensor *out)
{
    Py_buffer view;
    if (PyObject_GetBuffer(object, &view, PyBUF_FULL_RO) < 0)
        return -1;
    int status = check_device(r, DL_CPU);
    if (status == 0 && view.ndim > GPH_TENSOR_RANK_MAX)
        status = refuse(r, "has more than 8 dimensions");
    out->data = (CUdeviceptr)(uintptr_t)view.buf;
    out->rank = (uint32_t)view.ndim;
    out->dtype = dtype_of_format(view.format, view.itemsize);
    if (status == 0 && out->dtype == 0)
        status = refuse(r, "has an element type that libgph does not know");
    for (int i = 0; status == 0 && i < view.ndim; i++) {
        out->shape[i] = view.shape[i];
        out->stride[i] = view.strides[i] / view.itemsize;
        if (view.strides[i] % view.itemsize != 0)
            status = refuse(r, "has a stride that is not a multiple of its elements");
    }
    PyBuffer_Release(&view);
    return status;
}

static int read_array(const struct reading *r, PyObject *object, gph_tensor *out)
{
    if (!gphpy_ndarray_read(object, out))
        return read_buffer(r, object, out);
    return r->runtime->is_soft ? 0 : check_device(r, DL_CPU);
}

/* Of device memory stream -1: nobody is to wait for anything, which a capture would not bear. */
static PyObject *capsule_of(PyObject *object)
{
    int device_type = DL_CPU, device = 0;
    PyObject *where = PyObject_CallMethodObjArgs(object, device_name, NULL);
    if (!where ||
        !PyArg_ParseTuple(where, "ii;__dlpack_device__", &device_type, &device)) {
        Py_XDECREF(where);
        return NULL;
    }
    Py_DECREF(where);
    PyObject *args = device_type == DL_CPU ? host_args : device_args;
    PyObject *method = PyObject_GetAttr(object, dlpack_name);
    PyObject *empty = method ? PyTuple_New(0) : NULL;
    PyObject *capsule = empty ? PyObject_Call(method, empty, args) : NULL;
    if (!capsule && empty && PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear(); /* older than max_version */
        PyObject *old =
            device_type == DL_CPU ? NULL : Py_BuildValue("{si}", "stream", -1);
        capsule = PyErr_Occurred() ? NULL : PyObject_Call(method, empty, old);
        Py_XDECREF(old);
    }
    Py_XDECREF(empty);
    Py_XDECREF(method);
    return capsule;
}

static int read_capsule(const struct reading *r, PyObject *object, gph_tensor *out)
{
    PyObject *capsule = capsule_of(object);
    int status = -1;
    if (!capsule)
        return -1;
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        dl_versioned *managed = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        status = managed->version.major == DL_MAJOR
                     ? read_view(r, &managed->tensor, out)
                     : refuse(r, "is of another version of DLPack");
    } else if (PyCapsule_IsValid(capsule, "dltensor")) {
        dl_managed *managed = PyCapsule_GetPointer(capsule, "dltensor");
        status = read_view(r, &managed->tensor, out);
    } else {
        refuse(r, "gave something else than a DLPack tensor");
    }
    Py_DECREF(capsule); /* unused, so its destructor ends what it holds */
    return status;
}

/* ---- which way ---- */

const dl_exchange *gphpy_exchange_of(PyTypeObject *type)
{
    const dl_exchange *api = NULL;
    PyObject *capsule = PyObject_GetAttr((PyObject *)type, exchange_name);
    if (capsule && PyCapsule_IsValid(capsule, "dlpack_exchange_api"))
        api = PyCapsule_GetPointer(capsule, "dlpack_exchange_api");
    while (api && api->version.major != DL_MAJOR)
        api = api->previous;
    Py_XDECREF(capsule);
    PyErr_Clear();
    return api;
}

/* A name of C++, whose meaning does not change where it is found; PyTorch's object has its at::Tensor
 * where `_cdata` says so. */
gphpy_question *gphpy_is_neg_of(PyObject *object)
{
    gphpy_question *is_neg = NULL;
    PyObject *handle = PyObject_GetAttr(object, handle_name);
    void *const expected = handle ? PyLong_AsVoidPtr(handle) : NULL;
    void *library = NULL;
    Py_XDECREF(handle);
    PyErr_Clear();
    if (expected && *(void *const *)gphpy_handle_of(object) == expected)
        library = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return NULL;
    void *const function = dlsym(library, "_ZN2at6native6is_negERKNS_6TensorE");
    memcpy(&is_neg, &function, sizeof(is_neg));
    dlclose(library);
    return is_neg;
}

static struct entry found_out(PyObject *object)
{
    struct entry entry = {.type = Py_TYPE(object), .way = NEW};
    entry.api = gphpy_exchange_of(entry.type);
    if (entry.api)
        entry.way = EXCHANGE;
    if (entry.way == NEW && gphpy_is_ndarray(entry.type))
        entry.way = ARRAY;
    else if (entry.way == NEW && PyObject_CheckBuffer(object))
        entry.way = BUFFER;
    else if (entry.way == NEW && PyObject_HasAttr(object, dlpack_name))
        entry.way = DLPACK;
    entry.asks = (entry.way == EXCHANGE || entry.way == DLPACK) &&
                 PyObject_HasAttr(object, neg_name) &&
                 PyObject_HasAttr(object, conj_name);
    if (entry.asks)
        entry.is_neg = gphpy_is_neg_of(object);
    return entry;
}

static struct entry find_way(PyObject *object, _Atomic(struct entry *) *place)
{
    PyTypeObject *type = Py_TYPE(object);
    struct entry *known = atomic_load_explicit(place, memory_order_acquire);
    const struct entry entry = found_out(object);
    struct entry *kept = known || entry.way == NEW ? NULL : malloc(sizeof(*kept));
    if (kept) {
        *kept = entry;
        Py_INCREF((PyObject *)type);
        if (!atomic_compare_exchange_strong(place, &known, kept)) {
            Py_DECREF((PyObject *)type);
            free(kept);
        }
    }
    return entry;
}

static int read_entry(const struct reading *r, const struct entry *entry,
                      PyObject *object, gph_tensor *out)
{
    switch (entry->way) {
    case EXCHANGE: return read_exchange(r, entry->api, object, out);
    case ARRAY: return read_array(r, object, out);
    case BUFFER: return read_buffer(r, object, out);
    case DLPACK: return read_capsule(r, object, out);
    case NEW: break;
    }
    PyErr_Format(PyExc_TypeError,
                 "%s %zd is %R, not a tensor: it has neither __dlpack__ nor a buffer",
                 r->what, r->index, (PyObject *)Py_TYPE(object));
    return -1;
}

int gphpy_dlpack_read(gphpy_runtime *runtime, PyObject *object, const char *what,
                      Py_ssize_t index, gph_tensor *out)
{
    const struct reading r = {runtime, what, index};
    PyTypeObject *type = Py_TYPE(object);
    _Atomic(struct entry *) *place = &entries[((uintptr_t)type >> 4) % ENTRIES];
    const struct entry *known = atomic_load_explicit(place, memory_order_acquire);
    struct entry found;
    if (!known || known->type != type) {
        found = find_way(object, place);
        known = &found;
    }
    return read_entry(&r, known, object, out) < 0
               ? -1
               : check_plain(&r, known, object, out->dtype);
}

/* ---- ours, for others ---- */

static dl_type type_of(uint32_t dtype)
{
    for (uint8_t code = 0; code < CODES; code++)
        for (int width = 0; width < WIDTHS; width++)
            if (dtypes[code][width] == dtype && code != DL_F8E4M3)
                return (dl_type){code, (uint8_t)(8u << width), 1};
    return (dl_type){DL_UINT, 8, 1};
}

/* Softcuda's memory is the host's: NumPy and PyTorch's CPU tensors may view it. */
static void fill(gphpy_tensor *self, dl_tensor *out)
{
    const bool is_soft = self->runtime->is_soft;
    const int device = self->runtime->device;
    *out = (dl_tensor){
        .data = (void *)(uintptr_t)self->view.data,
        .device = {is_soft ? DL_CPU : DL_CUDA, is_soft || device < 0 ? 0 : device},
        .rank = (int32_t)self->view.rank,
        .type = type_of(self->view.dtype),
        .shape = self->view.shape,
        .strides = self->view.stride};
}

static void give_back(void *object)
{
    PyGILState_STATE state = PyGILState_Ensure();
    Py_DECREF((PyObject *)object);
    PyGILState_Release(state);
}

static void versioned_end(dl_versioned *self)
{
    give_back(self->context);
    free(self);
}

static void managed_end(dl_managed *self)
{
    give_back(self->context);
    free(self);
}

static dl_versioned *versioned_of(gphpy_tensor *tensor)
{
    dl_versioned *v = calloc(1, sizeof(*v));
    if (!v)
        return (dl_versioned *)PyErr_NoMemory();
    v->version = (dl_version){DL_MAJOR, DL_MINOR};
    v->context = Py_NewRef((PyObject *)tensor);
    v->deleter = versioned_end;
    fill(tensor, &v->tensor);
    return v;
}

static void versioned_capsule_end(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) /* nobody took it */
        versioned_end(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
}

static void managed_capsule_end(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, "dltensor"))
        managed_end(PyCapsule_GetPointer(capsule, "dltensor"));
}

PyObject *gphpy_dlpack_export(gphpy_tensor *tensor, bool is_versioned)
{
    if (is_versioned) {
        dl_versioned *v = versioned_of(tensor);
        PyObject *capsule =
            v ? PyCapsule_New(v, "dltensor_versioned", versioned_capsule_end) : NULL;
        if (v && !capsule)
            versioned_end(v);
        return capsule;
    }
    dl_managed *managed = calloc(1, sizeof(*managed));
    if (!managed)
        return PyErr_NoMemory();
    managed->context = Py_NewRef((PyObject *)tensor);
    managed->deleter = managed_end;
    fill(tensor, &managed->tensor);
    PyObject *capsule = PyCapsule_New(managed, "dltensor", managed_capsule_end);
    if (!capsule)
        managed_end(managed);
    return capsule;
}

int gphpy_dlpack_ready(void)
{
    exchange_name = PyUnicode_InternFromString("__dlpack_c_exchange_api__");
    dlpack_name = PyUnicode_InternFromString("__dlpack__");
    device_name = PyUnicode_InternFromString("__dlpack_device__");
    conj_name = PyUnicode_InternFromString("is_conj");
    neg_name = PyUnicode_InternFromString("is_neg");
    handle_name = PyUnicode_InternFromString("_cdata");
    host_args = Py_BuildValue("{s(ii)}", "max_version", DL_MAJOR, DL_MINOR);
    device_args =
        Py_BuildValue("{s(ii)si}", "max_version", DL_MAJOR, DL_MINOR, "stream", -1);
    return exchange_name && dlpack_name && device_name && conj_name && neg_name &&
                   handle_name && host_args && device_args
               ? 0
               : -1;
}
