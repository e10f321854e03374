# SPDX-License-Identifier: Apache-2.0
"""What explain_torch.py provokes with the driver and the runtime alone, by ctypes; and how it says
what it saw."""
import ctypes
import os
import subprocess
import tempfile
import traceback
import warnings

PROVOKED = {}



def provokes(*slugs, **environment):
    """The function shows these entries; with these settings of the environment."""
    def keep(function):
        for slug in slugs:
            PROVOKED[slug] = (function, environment)
        return function
    return keep


def say(*lines):
    print("SAID\n" + "\n".join(str(line) for line in lines), flush=True)


def said(run, *, trace=False, lines=40, last=False):
    """The text of the exception that `run` raises; of several that followed from each other the
    first, as a capture that ends hides it, unless `last`."""
    try:
        run()
    except BaseException as error:  # pylint: disable=broad-except
        while not last and not trace and error.__context__ is not None:
            error = error.__context__
        text = traceback.format_exc() if trace else str(error)
        say(*text.splitlines()[-lines if trace else None:][:lines])
        return
    say("no exception")


def warned(run):
    """The warnings that `run` gives."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            run()
        except Exception as error:  # pylint: disable=broad-except
            print("raised:", error)
    say(*[str(w.message) for w in seen][:6] or ["no warning"])


# ---- the driver and the runtime, by ctypes ----

class Driver:
    """libcuda with a context on device 0."""

    def __init__(self):
        self.lib = ctypes.CDLL("libcuda.so.1")
        self.check("cuInit", 0)
        self.context = ctypes.c_void_p()
        self.check("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), 0)
        self.check("cuCtxSetCurrent", self.context)

    def call(self, name, *arguments):
        return getattr(self.lib, name)(*arguments)

    def check(self, name, *arguments):
        code = self.call(name, *arguments)
        if code != 0:
            raise RuntimeError("%s: %s" % (name, self.word(code)))

    def word(self, code):
        name, text = ctypes.c_char_p(), ctypes.c_char_p()
        self.lib.cuGetErrorName(code, ctypes.byref(name))
        self.lib.cuGetErrorString(code, ctypes.byref(text))
        return "%s (%d): %s" % ((name.value or b"?").decode(), code, (text.value or b"?").decode())

    def kernel(self, body, name="k"):
        ptx = (".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry %s(.param .u64 p)\n"
               "{\n.reg .u64 %%a;\n.reg .f32 %%f<5>;\n%s\nret;\n}\n" % (name, body)).encode()
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.check("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(ptx))
        self.check("cuModuleGetFunction", ctypes.byref(function), module, name.encode())
        return function

    def memory(self, size=1 << 20):
        at = ctypes.c_uint64()
        self.check("cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(size))
        return at

    def launch(self, function, at, stream=None, grid=1, block=1, call="cuLaunchKernel"):
        value = ctypes.c_uint64(at.value if hasattr(at, "value") else at)
        arguments = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.pointer(value), ctypes.c_void_p))
        parts = [function, grid, 1, 1, block, 1, 1, 0, stream, arguments]
        return self.call(call, *(parts + [None] if call == "cuLaunchKernel" else parts))

    def stream(self):
        stream = ctypes.c_void_p()
        self.check("cuStreamCreate", ctypes.byref(stream), 1)
        return stream

    def captured(self, run):
        """The code of `run` inside a capture, and the code of the capture's end."""
        stream, graph = self.stream(), ctypes.c_void_p()
        self.check("cuStreamBeginCapture_v2", stream, 0)
        code = run(stream)
        return code, self.call("cuStreamEndCapture", stream, ctypes.byref(graph))


def runtime_library():
    """libcudart, which PyTorch brings along; None: there is none."""
    for name in ("libcudart.so.13", "libcudart.so.12", "libcudart.so"):
        for bring in (lambda: None, lambda: __import__("torch")):
            try:
                bring()
                return ctypes.CDLL(name)
            except (OSError, ImportError):
                pass
    return None


def runtime_word(code):
    """What the runtime calls a code; empty where there is no runtime."""
    lib = runtime_library()
    if lib is None:
        return ""
    lib.cudaGetErrorName.restype = lib.cudaGetErrorString.restype = ctypes.c_char_p
    return "%s: %s" % (lib.cudaGetErrorName(code).decode(), lib.cudaGetErrorString(code).decode())


@provokes("cuda/909-timeout")
def timeout():
    say("error " + Driver().word(909), runtime_word(909))


@provokes("cuda/702-launch-timeout")
def launch_timeout():
    """A kernel without an end, where there is a limit; a GPU without a display has none."""
    if "SOFTCUDA_KERNEL_TIMEOUT_MS" in os.environ:
        fault("more:\nld.param.u64 %a,[p];\nld.volatile.global.f32 %f1,[%a];\nbra more;",
              Driver().memory().value)
    else:
        say("error " + Driver().word(702), runtime_word(702))


@provokes("cuda/3-not-initialized")
def not_initialized():
    driver = Driver()
    read, write = os.pipe()
    if os.fork() == 0:
        at = ctypes.c_uint64()
        code = driver.call("cuMemAlloc_v2", ctypes.byref(at), ctypes.c_size_t(4096))
        os.write(write, str(code).encode())
        os._exit(0)
    code = int(os.read(read, 16))
    say("cuMemAlloc in a forked child returned error " + driver.word(code))


@provokes("cuda/98-invalid-device-function")
def invalid_device_function():
    import torch
    torch.zeros(1, device="cuda")
    lib = runtime_library()
    nothing, attributes = ctypes.create_string_buffer(64), ctypes.create_string_buffer(1024)
    code = lib.cudaFuncGetAttributes(attributes, ctypes.c_void_p(ctypes.addressof(nothing)))
    say("cudaFuncGetAttributes: error %d, %s" % (code, runtime_word(code)))


OTHER_GPU = """#include <cuda_runtime.h>
__global__ void k(int *p) { *p = 1; }
extern "C" int start(void *stream) { k<<<1, 1, 0, (cudaStream_t)stream>>>(nullptr); return (int)cudaGetLastError(); }
"""


@provokes("cuda/209-no-binary-for-gpu")
def no_binary():
    """A library with machine code for another GPU alone; launched by itself and in a capture."""
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "other.cu")
        with open(source, "w", encoding="ascii") as file:
            file.write(OTHER_GPU)
        library = os.path.join(folder, "other.so")
        subprocess.run(["nvcc", "-gencode", "arch=compute_75,code=sm_75", "-shared", "-Xcompiler",
                        "-fPIC", "-o", library, source], check=True)
        lib = ctypes.CDLL(library)
    driver = Driver()
    code = lib.start(None)
    inside, end = driver.captured(lib.start)
    say("a launch: error %d, %s" % (code, runtime_word(code)),
        "in a capture: %d, its end: %d" % (inside, end))


@provokes("cuda/400-invalid-handle")
def invalid_handle():
    """A function of a context that is gone. (A destroyed stream gives this on softcuda; on a GPU
    it can end in a fault inside the driver.)"""
    driver = Driver()
    if os.environ.get("GPH_DRIVER") == "soft":
        stream, event = driver.stream(), ctypes.c_void_p()
        driver.check("cuEventCreate", ctypes.byref(event), 0)
        driver.check("cuStreamDestroy_v2", stream)
        code = driver.call("cuEventRecord", event, stream)
        say("cuEventRecord on a destroyed stream: error " + driver.word(code), runtime_word(code))
        return
    lib = runtime_library()
    at = ctypes.c_void_p()
    lib.cudaMalloc(ctypes.byref(at), ctypes.c_size_t(64))
    nothing = ctypes.create_string_buffer(64)

    class Dim(ctypes.Structure):
        _fields_ = [("x", ctypes.c_uint), ("y", ctypes.c_uint), ("z", ctypes.c_uint)]

    lib.cudaLaunchKernel.argtypes = [ctypes.c_void_p, Dim, Dim, ctypes.c_void_p, ctypes.c_size_t,
                                     ctypes.c_void_p]
    code = lib.cudaLaunchKernel(ctypes.addressof(nothing), Dim(1, 1, 1), Dim(1, 1, 1), None, 0, None)
    say("cudaLaunchKernel of what is not a kernel: error %d, %s" % (code, runtime_word(code)))


@provokes("cuda/500-not-found")
def not_found():
    driver = Driver()
    ptx = b".version 7.0\n.target sm_80\n.address_size 64\n.visible .entry k()\n{\nret;\n}\n"
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    driver.check("cuModuleLoadData", ctypes.byref(module), ctypes.c_char_p(ptx))
    code = driver.call("cuModuleGetFunction", ctypes.byref(function), module, b"_Z1kv")
    say("cuModuleGetFunction: error " + driver.word(code), runtime_word(code))


@provokes("cuda/600-not-ready")
def not_ready():
    driver = Driver()
    at, stream = driver.memory(1 << 30), driver.stream()
    for _ in range(20):
        driver.check("cuMemsetD32Async", at, 1, ctypes.c_size_t(1 << 28), stream)
    code = driver.call("cuStreamQuery", stream)
    say("CUDA error: %s" % driver.word(code).split(": ")[1], "cuStreamQuery: " + driver.word(code))


def fault(body, at):
    driver = Driver()
    function = driver.kernel(body)
    code = driver.launch(function, at)
    waited = driver.call("cuCtxSynchronize")
    later = driver.call("cuMemAlloc_v2", ctypes.byref(ctypes.c_uint64()), ctypes.c_size_t(4096))
    say("cuCtxSynchronize: error " + driver.word(waited), runtime_word(waited))
    print("launch: %d, a later allocation: %d" % (code, later))


@provokes("cuda/716-misaligned-address")
def misaligned():
    at = Driver().memory().value + 4
    fault("ld.param.u64 %a,[p];\nld.global.v4.f32 {%f1,%f2,%f3,%f4},[%a];\n"
          "st.global.v4.f32 [%a],{%f2,%f1,%f4,%f3};", at)


@provokes("cuda/719-launch-failed")
def launch_failed():
    fault("trap;", 0)


@provokes("cuda/700-illegal-address")
def illegal_address():
    fault("ld.param.u64 %a,[p];\nld.global.f32 %f1,[%a];\nadd.f32 %f2,%f1,%f1;\n"
          "st.global.f32 [%a],%f2;", 16)


@provokes("cuda/720-cooperative-launch-too-large")
def cooperative():
    driver = Driver()
    function = driver.kernel("")

    def launch(stream):
        return driver.launch(function, 0, stream, 1 << 20, 1024, "cuLaunchCooperativeKernel")

    code = launch(None)
    inside, end = driver.captured(launch)
    say("cuLaunchCooperativeKernel: error " + driver.word(code), runtime_word(code))
    print("in a capture: %d, its end: %d" % (inside, end))


class NodeParams(ctypes.Structure):
    """CUDA_KERNEL_NODE_PARAMS (version 2)."""
    _fields_ = [("function", ctypes.c_void_p), ("sizes", ctypes.c_uint * 7),
                ("arguments", ctypes.c_void_p), ("extra", ctypes.c_void_p),
                ("kernel", ctypes.c_void_p), ("context", ctypes.c_void_p)]


def one_kernel(driver, function):
    value = ctypes.c_uint64(0)
    arguments = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.pointer(value), ctypes.c_void_p))
    params = NodeParams(function, (ctypes.c_uint * 7)(1, 1, 1, 1, 1, 1, 0),
                        ctypes.cast(arguments, ctypes.c_void_p))
    graph, node = ctypes.c_void_p(), ctypes.c_void_p()
    driver.check("cuGraphCreate", ctypes.byref(graph), 0)
    driver.check("cuGraphAddKernelNode_v2", ctypes.byref(node), graph, None, ctypes.c_size_t(0),
                 ctypes.byref(params))
    return graph


@provokes("update-result/function-changed")
def function_changed():
    """On this driver another function of the context does not suffice to refuse an update."""
    driver = Driver()
    first = one_kernel(driver, driver.kernel("", "first"))
    second = one_kernel(driver, driver.kernel("trap;", "second"))
    executable = ctypes.c_void_p()
    driver.check("cuGraphInstantiateWithFlags", ctypes.byref(executable), first,
                 ctypes.c_ulonglong(0))
    result = (ctypes.c_uint * 16)()
    code = driver.call("cuGraphExecUpdate_v2", executable, second, result)
    say("another function: cuGraphExecUpdate gives %d, result %d, and not "
        "CU_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED" % (code, result[0]))


class InstantiateParams(ctypes.Structure):
    """CUDA_GRAPH_INSTANTIATE_PARAMS."""
    _fields_ = [("flags", ctypes.c_uint64), ("stream", ctypes.c_void_p), ("node", ctypes.c_void_p),
                ("result", ctypes.c_int)]


@provokes("instantiate-result/conditional-handle-unused")
def handle_unused():
    driver = Driver()
    graph = one_kernel(driver, driver.kernel(""))
    handle, executable = ctypes.c_uint64(), ctypes.c_void_p()
    driver.check("cuGraphConditionalHandleCreate", ctypes.byref(handle), graph, driver.context, 0, 0)
    params = InstantiateParams()
    code = driver.call("cuGraphInstantiateWithParams", ctypes.byref(executable), graph,
                       ctypes.byref(params))
    names = {5: "CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED"}
    say("a handle without its node: cuGraphInstantiateWithParams gives %d, result_out %d %s" %
        (code, params.result, names.get(params.result, "")))
