#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a Python program says on standard error alone: gph doctor passes it on as it is, and
answers with the entry that explains it and the Python line.

usage: framework.py GPH     (framework.py MODE is one of the programs)
"""
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import threading
import warnings

# mode -> exit status of the program (None: what it is without the doctor), findings: severity, rule, entry, function of the line
# marked with the mode. The words are PyTorch 2.11's.
MODES = {
    "raised": (1, [("error", "framework.exception", "torch/unpinned-copy", "inner")]),
    "chained": (1, [("error", "framework.exception", "torch/capture-on-default-stream", "begin")]),
    "in_thread": (0, [("error", "framework.exception", "torch/replay-without-capture", "replay")]),
    "child": (1, [("error", "framework.exception", "torch/generator-not-registered", "draw")]),
    "ranked": (1, [("error", "framework.exception", "torch/already-owns-graph", "capture")]),
    "caught": (0, [("info", "framework.exception", "torch/unpinned-copy", "inner")]),
    "warned": (0, [("warning", "framework.message", "torch/empty-graph", "warned")]),
    "logged": (0, [("info", "framework.message", "torch/skipping-mutated-inputs", "log")]),
    "refused": (1, [("error", "capture.synchronize", "capture.synchronize", "wait")]),
    "optimizer": (1, [("error", "framework.exception", "torch/not-capturable", "adam_step")]),
    "aborted": (1, [("error", "framework.exception", "torch/generator-not-registered", "draw_here")]),
    "code": (1, [("error", "framework.exception", "cuda/900-stream-capture-unsupported", "code")]),
    "in_capture": (1, [("error", "framework.exception", "framework.exception", "look_up")]),
    "after_capture": (1, []),
    "other_sizes": (1, [("error", "framework.exception", "framework.exception", "raised_in")]),
    "sizes_of_the_model": (1, []),
    "second_backward": (1, [("error", "framework.exception", "framework.exception", "raised_in")]),
    "changed_in_place": (1, [("error", "framework.exception", "framework.exception", "raised_in")]),
    "backward_of_eager": (1, []),
    "backward_without_graphs": (1, []),
    "value_error": (1, []),
    "other_cuda": (1, []),
    "then_warned": (1, []),
    "interrupted": (130, []),
    "left": (3, []),
    "closed": (None, []),  # 1, or 120 where Python minds that nothing can be flushed
}
UNPINNED = ("Cannot copy between CPU and CUDA tensors during CUDA graph capture unless the CPU tensor is pinned. "
            "Please use tensor.pin_memory() or allocate the tensor with pin_memory=True.")


def inner():
    raise RuntimeError(UNPINNED)  # raised, caught


def raised():
    inner()


def begin():
    raise RuntimeError("CUDA graphs must be captured on a non-default stream. (However, after capture, "  # chained
                       "it's ok to replay them on the default stream.)")


def chained():
    try:
        begin()
    except RuntimeError as error:
        raise ValueError("the engine did not start") from error


def replay():
    raise RuntimeError("Called CUDAGraph::replay without a preceding successful capture.")  # in_thread


def in_thread():
    thread = threading.Thread(target=replay)
    thread.start()
    thread.join()


def draw():
    cuda()  # its own
    raise RuntimeError("Attempt to increase offset for a CUDA generator not in capture mode.")  # child


def child():
    import multiprocessing
    process = multiprocessing.get_context("spawn").Process(target=draw)
    process.start()
    process.join()
    sys.exit(process.exitcode)


def capture():
    raise RuntimeError("This CUDAGraph instance already owns a captured graph. "  # ranked
                       "To capture a new graph, create a new instance.")


def ranked():
    """torchrun's children say whose each line is, in colors."""
    def hook(kind, value, trace):
        import traceback
        for line in "".join(traceback.format_exception(kind, value, trace)).splitlines():
            print("[rank0]: \033[1;35m%s\033[0m" % line, file=sys.stderr)
    sys.excepthook = hook
    capture()


def caught():
    import traceback
    try:
        inner()
    except RuntimeError:
        traceback.print_exc()


def warned():
    warnings.warn("The CUDA Graph is empty. This usually means that the graph was attempted to be "  # warned
                  "captured on wrong device or stream.")


def log():
    import logging
    logging.getLogger("torch").warning("skipping cudagraphs due to mutated inputs (1 instances)")  # logged


def logged():
    log()


def wait(driver, stream):
    return driver.cuStreamSynchronize(stream)  # refused


def refused():
    """The calls show it: the exception is evidence."""
    driver, stream = cuda(), ctypes.c_void_p()
    driver.cuStreamCreate(ctypes.byref(stream), 1)
    driver.cuStreamBeginCapture_v2(stream, 0)
    if wait(driver, stream) == 900:
        raise RuntimeError("CUDA error: operation not permitted when stream is capturing\n"
                           "CUDA kernel errors might be asynchronously reported at some other API call")


def adam_step():
    raise RuntimeError("Attempting CUDA graph capture of step() for an instance of Adam but param_groups' "  # optimizer
                       "capturable is False.")


def optimizer():
    adam_step()


def draw_here():
    raise RuntimeError("Attempt to increase offset for a CUDA generator not in capture mode.")  # aborted


def aborted():
    """The capture that breaks off warns as it ends: that follows from the exception."""
    try:
        draw_here()
    finally:
        warned()


def code():
    raise RuntimeError("CUDA error: operation not permitted when stream is capturing")  # code


def look_up():
    return {}["scale"]  # in_capture, after_capture


def captured(driver, breaks):
    stream, graph, word = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
    driver.cuMemAlloc_v2(ctypes.byref(word), ctypes.c_size_t(4))
    driver.cuStreamCreate(ctypes.byref(stream), 1)
    driver.cuStreamBeginCapture_v2(stream, 0)
    try:
        work(driver, word, stream, breaks)
    finally:
        driver.cuStreamEndCapture(stream, ctypes.byref(graph))


def work(driver, word, stream, breaks):
    driver.cuMemsetD32Async(word, 1, ctypes.c_size_t(1), stream)
    if breaks:
        look_up()


def in_capture():
    """Of no entry, but the capture is broken off."""
    captured(cuda(), True)


def after_capture():
    captured(cuda(), False)
    look_up()


def replayed():
    """A graph of four nodes that was captured and has run."""
    driver, stream, graph, run, word = (cuda(), *(ctypes.c_void_p() for _ in range(3)), ctypes.c_uint64())
    driver.cuMemAlloc_v2(ctypes.byref(word), ctypes.c_size_t(4))
    driver.cuStreamCreate(ctypes.byref(stream), 1)
    driver.cuStreamBeginCapture_v2(stream, 0)
    fill(driver, word, stream)
    driver.cuStreamEndCapture(stream, ctypes.byref(graph))
    driver.cuGraphInstantiateWithFlags(ctypes.byref(run), graph, ctypes.c_uint64(0))
    driver.cuGraphLaunch(run, stream)
    return driver, word, stream


def fill(driver, word, stream):
    for value in range(4):
        driver.cuMemsetD32Async(word, value, ctypes.c_size_t(1), stream)


def raised_in(file, message):
    """As a library's file raises it."""
    exec(compile("raise RuntimeError(%r)" % message, file, "exec"), {})  # other_sizes, second_backward, changed_in_place


SIZES = "The size of tensor a (25) must match the size of tensor b (10) at non-singleton dimension 0"
CHANGED = ("one of the variables needed for gradient computation has been modified by an inplace operation: "
           "[torch.cuda.FloatTensor [32, 64]] is at version 1; expected version 0 instead.")
SECOND = "Trying to backward through the graph a second time (or directly access saved tensors after they have already been freed)."


def other_sizes():
    replayed()
    raised_in("/lib/python3/site-packages/torch/cuda/graphs.py", SIZES)


def sizes_of_the_model():
    """Not of what calls the graph."""
    replayed()
    raised_in("/lib/python3/site-packages/torch/nn/functional.py", SIZES)


def second_backward():
    replayed()
    raised_in("/lib/python3/site-packages/torch/autograd/graph.py", SECOND)


def changed_in_place():
    driver, word, stream = replayed()
    driver.cuMemsetD32Async(word, 7, ctypes.c_size_t(1), stream)  # the loss's gradient
    raised_in("/lib/python3/site-packages/torch/autograd/graph.py", CHANGED)


def backward_of_eager():
    """The forward pass ran after the graph."""
    fill(*replayed())
    raised_in("/lib/python3/site-packages/torch/autograd/graph.py", SECOND)


def backward_without_graphs():
    cuda()
    raised_in("/lib/python3/site-packages/torch/autograd/graph.py", CHANGED)


def value_error():
    raise ValueError("the stream is capturing 904 frames of graph 900")


def other_cuda():
    """No graph in sight."""
    raise RuntimeError("CUDA error: an illegal memory access was encountered")


def then_warned():
    """What a library says at the end does not belong to the program's exception."""
    import atexit
    atexit.register(lambda: print("Warning: cuMemFreeAsync failed during destruction (CUDA error 900)", file=sys.stderr))
    raise TypeError("allocate() needs keyword-only argument stream")


def interrupted():
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        import traceback
        traceback.print_exc()
        os._exit(130)


def left():
    sys.exit(3)


def closed():
    os.close(2)
    raise RuntimeError(UNPINNED)


def cuda():
    driver, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
    assert driver.cuInit(0) == 0
    assert driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
    assert driver.cuCtxSetCurrent(context) == 0
    return driver


def line_of(mode):
    with open(__file__, encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            comment = text.partition("  # ")[2]
            if mode in comment.strip().split(", "):
                return number
    return None


def check(gph, mode, folder):
    status, wanted = MODES[mode]
    out = os.path.join(folder, "found.json")
    command = [sys.executable, os.path.abspath(__file__), mode]
    done = subprocess.run([gph, "doctor", "--driver", "soft", "--json", out, "--", *command],
                          capture_output=True, timeout=100, check=False)
    plain = subprocess.run([gph, "run", "--", *command], capture_output=True, timeout=100, check=False)
    if status is None:
        status = plain.returncode
    with open(out, encoding="utf-8") as file:
        found = json.load(file)
    seen = [(f["severity"], f["id"], f["docs"].rsplit(" ", 1)[1], f["at"]["function"])
            for f in found["findings"] if f["id"].partition(".")[0] in ("framework", "capture")]
    if mode == "refused":
        seen = [one for one in seen if one[1] != "capture.never-ended"]
    loud = [f for f in found["findings"] if f["severity"] != "info"]
    want = status or (1 if loud else 0)
    lines = [f["at"]["line"] for f in found["findings"]
             if wanted and f["at"]["function"] == wanted[0][3]]
    quoted = any("standard error: " in line for f in found["findings"] for line in f["evidence"])
    if seen != wanted or done.returncode != want or (wanted and (line_of(mode) not in lines or not quoted)):
        print(done.stderr.decode(errors="replace"))
        return f"{mode}: {seen} at {lines}, exit {done.returncode}; not {wanted} at {line_of(mode)}, {want}"
    if not done.stderr.startswith(plain.stderr):
        return f"{mode}: standard error is not passed on as it is: {plain.stderr!r}, {done.stderr[:len(plain.stderr)]!r}"
    return None


def main(gph):
    with tempfile.TemporaryDirectory() as folder:
        faults = [fault for fault in (check(gph, mode, folder) for mode in MODES) if fault]
    for fault in faults:
        print("FAILED", fault)
    print(f"{len(MODES) - len(faults)} of {len(MODES)} as expected")
    return 1 if faults else 0


if __name__ == "__main__":
    if sys.argv[1] in MODES:
        if sys.argv[1] not in ("child", "refused"):
            cuda()
        globals()[sys.argv[1]]()
    else:
        sys.exit(main(sys.argv[1]))
