// SPDX-License-Identifier: Apache-2.0
/* Runtime: an open driver, and the way to everything that is made with it. */
#include "gphpy.h"

static const char *const drivers[] = {"auto", "cuda", "soft", NULL};

/* The primary context is retained as long as the runtime. */
static gph_status use_device(gphpy_runtime *self, gph_error *error)
{
    CUcontext context = NULL;
    CUdevice device = 0;
    gph_status status =
        gph_cuda_check(self->cu->CtxGetCurrent(&context), "cuCtxGetCurrent", error);
    if (status == GPH_OK)
        status = gph_cuda_check(self->cu->DeviceGet(&device, self->device), "cuDeviceGet",
                                error);
    CUcontext primary = NULL;
    if (status == GPH_OK)
        status = gph_cuda_check(self->cu->DevicePrimaryCtxRetain(&primary, device),
                                "cuDevicePrimaryCtxRetain", error);
    if (status != GPH_OK) {
        self->device = -1;
        return status;
    }
    if (context)
        return GPH_OK;
    return gph_cuda_check(self->cu->CtxSetCurrent(primary), "cuCtxSetCurrent", error);
}

_Thread_local bool gphpy_thread_has_context;

gphpy_runtime *gphpy_runtime_use_slowly(gphpy_runtime *self)
{
    CUcontext context = NULL;
    CUdevice device = 0;
    gph_error error = {0};
    if (self->device < 0)
        return self; /* contexts are the caller's */
    gph_status status =
        gph_cuda_check(self->cu->CtxGetCurrent(&context), "cuCtxGetCurrent", &error);
    if (status == GPH_OK && !context) {
        status = gph_cuda_check(self->cu->DeviceGet(&device, self->device), "cuDeviceGet",
                                &error);
        if (status == GPH_OK)
            status = gph_cuda_check(self->cu->DevicePrimaryCtxRetain(&context, device),
                                    "cuDevicePrimaryCtxRetain", &error);
        if (status == GPH_OK) {
            status = gph_cuda_check(self->cu->CtxSetCurrent(context), "cuCtxSetCurrent",
                                    &error);
            (void)self->cu->DevicePrimaryCtxRelease(
                device); /* the runtime's own is left */
        }
    }
    gphpy_thread_has_context = status == GPH_OK;
    if (status != GPH_OK)
        gphpy_raise(status, &error, NULL);
    return status == GPH_OK ? self : NULL;
}

int gphpy_allocator_read(PyObject *object, gph_allocator *heap, const gph_allocator **out)
{
    unsigned long long function = 0, user = 0;
    if (object == Py_None)
        return 0;
    if (!PyArg_ParseTuple(object, "KK;allocator is (address of a function, user)",
                          &function, &user))
        return -1;
    *heap =
        (gph_allocator){(gph_realloc_fn *)(uintptr_t)function, (void *)(uintptr_t)user};
    *out = heap;
    return 0;
}

static int read_options(PyObject *driver, PyObject *allocator, gph_options *options,
                        gph_allocator *heap)
{
    if (driver != Py_None) {
        const int word = gphpy_word(driver, drivers, GPH_DRIVER_AUTO, "driver");
        if (word < 0)
            return -1;
        options->driver = (uint32_t)word;
    }
    return gphpy_allocator_read(allocator, heap, &options->allocator);
}

PyObject *gphpy_open(PyObject *module, PyObject *args, PyObject *kwargs)
{
    (void)module;
    static const char *const names[] = {"driver", "device", "softcuda_path", "allocator",
                                        NULL};
    PyObject *driver = Py_None, *device = Py_None, *allocator = Py_None, *path = NULL;
    PyObject *zero = PyLong_FromLong(0);
    if (!zero)
        return NULL;
    device = zero;
    gph_options options = GPH_OPTIONS_INIT;
    gph_allocator heap = {0};
    gph_error error = {0};
    gphpy_runtime *self = NULL;
    if (!PARSE(args, kwargs, "|OO$O&O:open", names, &driver, &device,
               PyUnicode_FSConverter, &path, &allocator) ||
        read_options(driver, allocator, &options, &heap) < 0)
        goto out;
    if (path)
        options.softcuda_path = PyBytes_AsString(path);
    const long ordinal = device == Py_None ? -1 : PyLong_AsLong(device);
    if (ordinal == -1 && PyErr_Occurred())
        goto out;
    self = gphpy_new(gphpy_types.runtime, sizeof(*self));
    if (!self)
        goto out;
    self->device = -1;
    gph_status status;
    WITHOUT_GIL(status, gph_open(&options, &self->gph, &error));
    if (status == GPH_OK) {
        gph_driver_info info = GPH_SIZED(gph_driver_info);
        gph_driver_info_get(self->gph, &info);
        self->is_soft = (info.features & GPH_FEATURE_SOFTCUDA) != 0;
        self->cu = gph_cuda(self->gph);
        self->device = (int)ordinal;
        if (ordinal >= 0)
            WITHOUT_GIL(status, use_device(self, &error));
    }
    if (status != GPH_OK) {
        gphpy_raise(status, &error, NULL);
        Py_CLEAR(self);
    }
out:
    Py_DECREF(zero);
    Py_XDECREF(path);
    return (PyObject *)self;
}

static void destroy(gphpy_runtime *self)
{
    CUdevice device = 0;
    gph_arena_destroy(atomic_load(&self->home));
    gphpy_modules_unload(self);
    if (self->device >= 0 && self->cu->DeviceGet(&device, self->device) == GPH_OK)
        (void)self->cu->DevicePrimaryCtxRelease(device);
    gph_close(self->gph);
    gphpy_free(self);
}

/* ---- what driver it is ---- */

static gph_driver_info info_of(gphpy_runtime *self)
{
    gph_driver_info info = GPH_SIZED(gph_driver_info);
    gph_driver_info_get(self->gph, &info);
    return info;
}

static PyObject *get_driver(gphpy_runtime *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(self->is_soft ? "soft" : "cuda");
}

static PyObject *get_version(gphpy_runtime *self, void *unused)
{
    (void)unused;
    const int version = info_of(self).version;
    return Py_BuildValue("(ii)", version / 1000, version % 1000 / 10);
}

static PyObject *get_path(gphpy_runtime *self, void *unused)
{
    (void)unused;
    return PyUnicode_DecodeFSDefault(info_of(self).path);
}

static PyObject *get_why(gphpy_runtime *self, void *unused)
{
    (void)unused;
    return PyUnicode_FromString(info_of(self).why);
}

static PyObject *get_device(gphpy_runtime *self, void *unused)
{
    (void)unused;
    return self->device < 0 ? Py_NewRef(Py_None) : PyLong_FromLong(self->device);
}

static PyObject *get_address(gphpy_runtime *self, void *unused)
{
    (void)unused;
    return PyLong_FromVoidPtr(self->gph);
}

static PyObject *represent(gphpy_runtime *self)
{
    return PyUnicode_FromFormat("<graphophone.Runtime of %s>",
                                self->is_soft ? "softcuda" : "CUDA");
}

static PyObject *synchronize(gphpy_runtime *self, PyObject *unused)
{
    (void)unused;
    gph_error error = {0};
    gph_status status;
    if (!gphpy_runtime_use(self))
        return NULL;
    WITHOUT_GIL(status,
                gph_cuda_check(self->cu->CtxSynchronize(), "cuCtxSynchronize", &error));
    return status == GPH_OK ? Py_NewRef(Py_None) : gphpy_raise(status, &error, NULL);
}

static PyObject *find(gphpy_runtime *self, PyObject *name)
{
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    gph_error error = {0};
    gph_cuda_fn found = NULL;
    if (!text)
        return NULL;
    const gph_status status = gph_cuda_find(self->gph, text, &found, &error);
    return status == GPH_OK ? PyLong_FromVoidPtr((void *)(uintptr_t)found)
                            : gphpy_raise(status, &error, NULL);
}

static PyMethodDef methods[] = {
    METHOD(
        "capture", gphpy_capture_new,
        "capture($self, stream, *, pool=None, mode='thread', join='auto', run=False, "
        "name=None, streams=())\n"
        "--\n\n"
        "Records what is put into a stream, instead of running it: a context manager.\n\n"
        "    with runtime.capture(stream) as capture:\n"
        "        ...                        # work in the stream\n"
        "    replay = capture.recording.instantiate()\n\n"
        "pool: where allocations of the capture come from. mode: which calls of other "
        "threads\n"
        "invalidate it: 'global', 'thread' or 'relaxed', as CUDA has it. join: what "
        "becomes "
        "of a\n"
        "stream that joined and never came back: 'error', 'auto' (waited for) or 'name'\n"
        "(refused; the error names them). run: each segment also runs when it ends. "
        "name: of\n"
        "the recording in the pool. streams: that may join, so that an error can name "
        "them.\n\n"
        "After an exception in its body the capture is thrown away, the stream is as "
        "before, and\n"
        "the exception goes on."),
    METHOD("stream", gphpy_stream_new,
           "stream($self, *, priority=0)\n--\n\n"
           "Makes a Stream that does not wait for the legacy stream. Lower priorities "
           "run first."),
    METHOD("module", gphpy_module_new,
           "module($self, image, /)\n--\n\n"
           "Loads PTX (str or bytes), a cubin or a fatbin: a Module. libgph knows its "
           "kernels by\n"
           "name in other processes, too, so that a recipe can hold them."),
    METHOD("tensor", gphpy_tensor_view,
           "tensor($self, data, shape, dtype='f32', *, strides=None, owner=None)\n--\n\n"
           "A Tensor of device memory at an address; owner is kept as long as it."),
    METHOD("arena", gphpy_arena_new,
           "arena($self, *, device=-1, reserve_bytes=0, budget_bytes=0, base=0)\n--\n\n"
           "Reserves addresses of a device for pools: an Arena. 0 is the default: twice "
           "the device's\n"
           "memory, no budget, anywhere."),
    METHOD("pool", gphpy_pool_new,
           "pool($self, *, name=None, growth_bytes=0, max_bytes=0, arena=None)\n--\n\n"
           "Makes a Pool, in the runtime's own arena unless one is given."),
    METHOD("rng", gphpy_rng_new,
           "rng($self, seed=0)\n--\n\n"
           "Makes an Rng: the state of a Philox generator that replays go on with."),
    METHOD("callable", gphpy_callable_new,
           "callable($self, function, inputs, *, outputs=0, pool, stream, modes='copy', "
           "key=(), "
           "warmups=0, rng=None, name=None, clear=(), keep_graph=False, any_order=False, "
           "share_inputs=False)\n--\n\n"
           "Records function(call, *inputs) for the signature of the sample `inputs`: a "
           "Callable.\n\n"
           "outputs: how many there are, or a sequence with one for each: 'lent' (whole "
           "until the\n"
           "next call), 'copied' (to the tensor that a call gives as `out`) or a tensor "
           "that it is\n"
           "recorded into. modes: of all inputs, or of each: 'copy' (into a buffer "
           "before each\n"
           "replay) or 'static' (stays where it was). key: ints, such as train or eval. "
           "warmups:\n"
           "calls before the capture, whose effects stay. clear: tensors that are zeroed "
           "at the\n"
           "head of the graph. The function is called with a Call; see there."),
    METHOD("tree", gphpy_tree_new,
           "tree($self, *, stream=None, arena=None, rng=None, warmups=0, depth_max=0, "
           "rerecords_max=0, backoff=0, moves_max=0, settle=0, strict=False, "
           "explicit_steps=False, keep_graphs=False)\n--\n\n"
           "Makes a Tree: functions that are called in an order the program decides as "
           "it goes,\n"
           "each recorded once for the path that led to it. 0 is the default of each "
           "number;\n"
           "strict: what would be recorded again is a StateError."),
    METHOD(
        "cache", gphpy_cache_new,
        "cache($self, function, axes, *, inputs=(), outputs=(), pool=None, name=None, "
        "warmup=0, "
        "lazy='work', lazy_misses=0, own_max=0, hot_share=0.0, overshoot_max=0.0, "
        "budget_bytes=0, rng=None, wanted=None)\n--\n\n"
        "Makes a Cache: one function, recorded for many shapes, which are rounded up to "
        "buckets.\n\n"
        "axes: a dict for each: name; one of values=[...], powers=(first, last),\n"
        "linear=(first, last, step), planned={size: count}; discrete=True: these values "
        "exactly.\n"
        "inputs, outputs: (dtype, shape) or, of inputs, (dtype, shape, fill) each; a "
        "dimension is\n"
        "an int, the name of an axis, or (axis, elements a unit, elements more); fill "
        "is\n"
        "'keep', 'zero', 'last' or a number. lazy: when a key that was missed is "
        "captured:\n"
        "'work', 'call' or 'off'. wanted(values): whether there is such a key. The "
        "function\n"
        "gets one input more, the real sizes (i64, one an axis); its key is the bucket."),
    METHOD("slots", gphpy_slots_new,
           "slots($self, slots, *, depth=0, windows=0, wait_s=0.0)\n--\n\n"
           "Makes Slots: named buffers of a graph that may be others at each replay, "
           "without an\n"
           "update. Each is (name, kind, bytes): 'copy' (a fixed address, what is bound "
           "is copied\n"
           "there), 'indirect' (kernels read the address from a word) or 'remap' (a "
           "fixed address,\n"
           "what is bound is mapped there)."),
    METHOD1("slot_buffer", gphpy_slot_buffer_new,
            "slot_buffer($self, bytes, /)\n--\n\nDevice memory that remap slots take: a "
            "SlotBuffer."),
    METHOD("loop", gphpy_loop_new,
           "loop($self, body, condition, ceiling, *, way='fastest', unroll=0, "
           "budget_ns=0, counter=None, poll_ns=0, name=None, before=None, "
           "stream=None)\n--\n\n"
           "Makes a Loop: the body, a CUgraph (an int) or a Recording of one step, runs "
           "on the device\n"
           "round after round while the condition holds: a tensor of one word of 4 bytes "
           "that is not\n"
           "0, or a comparison (left, '<', right). ceiling: steps at most. way: who "
           "starts the next\n"
           "round, 'fastest' (measured here), 'device', 'while', 'tail' or 'host'. "
           "unroll: steps a\n"
           "round, which do nothing once the condition is 0. counter: a word to which "
           "the body adds 1\n"
           "in each step that it does. before: a graph that runs once before the first "
           "round. poll_ns:\n"
           "how often it looks for abort() and says how far it is."),
    METHOD("dispatch", gphpy_dispatch_new,
           "dispatch($self, *, order='side by side', capacity=0, idle_us=0, wait_ns=0, "
           "name=None)\n--\n\n"
           "Makes a Dispatch: a resident graph that launches one of up to 64 graphs for "
           "each request\n"
           "of the host. order: 'side by side', or 'in order'. capacity: requests that "
           "may wait (a\n"
           "power of two; 0: 256). idle_us: it ends after so long without work (0: "
           "1,000). wait_ns:\n"
           "how long a request waits for room."),
    METHOD("instantiate", gphpy_exec_new,
           "instantiate($self, graph, *, flags=0, stream=None, keep_gil=False)\n--\n\n"
           "Makes an Exec of a CUgraph, an int, which stays the caller's. flags are "
           "CUDA's:\n"
           "1 auto free on launch, 4 device launch, 8 node priorities. stream: of the "
           "upload.\n"
           "keep_gil as in Recording.instantiate()."),
    METHOD0("synchronize", synchronize,
            "synchronize($self)\n--\n\nWaits for all work of the current context."),
    METHOD1(
        "find", find,
        "find($self, name, /)\n--\n\nThe address of a call of the driver, such as\n"
        "'cuGraphAddKernelNode', for ctypes; in the version that CUDA 13.0 declares."),
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef members[] = {
    GETTER("driver", get_driver, "'cuda' or 'soft'."),
    GETTER("version", get_version,
           "CUDA's version that the driver has, such as (13, 0)."),
    GETTER("path", get_path, "The file that was loaded."),
    GETTER("why", get_why, "Why this driver: 'option', 'GPH_DRIVER', 'default', ..."),
    GETTER("device", get_device, "The ordinal given to open(), or None."),
    GETTER("address", get_address, "The address of the gph_runtime, for C."),
    {NULL, NULL, NULL, NULL, NULL},
};

int gphpy_runtime_ready(PyObject *module)
{
    static PyType_Slot slots[] = {
        {Py_tp_doc,
         (void *)"An open driver: open() makes it. Any thread.\n\n"
                 "A process has one driver. It is closed when nothing that was made\n"
                 "with it is left."},
        {Py_tp_dealloc, (void *)destroy},
        {Py_tp_repr, (void *)represent},
        {Py_tp_methods, methods},
        {Py_tp_getset, members},
        {0, NULL},
    };
    static PyType_Spec spec = {"graphophone.Runtime", sizeof(gphpy_runtime), 0,
                               Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                               slots};
    return gphpy_type_add(module, &spec, &gphpy_types.runtime);
}
