// SPDX-License-Identifier: Apache-2.0
/* What distinguishes softcuda from NVIDIA's driver, and the list of its settings. */
#include <gph/softcuda.h>

const char *gph_softcuda_version(void)
{
    return gph_version_text();
}

/* Every variable that softcuda reads; a test compares this with the sources. */
static const gph_softcuda_setting settings[] = {
    {"SOFTCUDA_DEVICES", "1", "how many devices there are"},
    {"SOFTCUDA_MEMORY", "half of the RAM, at most 16 GiB",
     "memory of a device: bytes, or with K, M, G"},
    {"SOFTCUDA_COMPUTE_CAPABILITY", "9.0; 8.0 where Triton is loaded",
     "what the device says it can do"},
    {"SOFTCUDA_MULTIPROCESSORS", "4",
     "how many a device has, 1 to 1024: what green contexts divide, and launches that "
     "fill the device ask for"},
    {"SOFTCUDA_DRIVER_VERSION", "13.0",
     "an older driver's, from 12.0: later calls, and forms of conditional nodes that "
     "came "
     "later, are not there; or a newer one's, to 13.9: the same driver, and newer PTX is "
     "read as 13.0's (Warp 1.19)"},
    {"SOFTCUDA_WORKERS", "one a CPU", "threads that run kernels, 1 to 64"},
    {"SOFTCUDA_SCHEDULE_SEED", "none",
     "a number: whatever may run in any order runs in one drawn from it, for tests"},
    {"SOFTCUDA_KERNEL_TIMEOUT_MS", "none",
     "a kernel that runs longer ends with error 702"},
    {"SOFTCUDA_GRAPH_TIMEOUT_MS", "as SOFTCUDA_KERNEL_TIMEOUT_MS",
     "a WHILE node that runs longer ends with error 702, and says after how many rounds"},
    {"SOFTCUDA_PATH", "fast where it can", "slow: every kernel runs a fiber a thread"},
    {"SOFTCUDA_TIER", "auto",
     "best: LLVM's best for kernels of any size; quick: as little as can be; auto: quick "
     "first where the best takes over 50 ms, which is made beside the program once the "
     "kernel ran for 100 ms; soon: both, always, at once; size: best, but for very large "
     "ones, and nothing beside the program, as auto does with one worker"},
    {"SOFTCUDA_CHECK", "none",
     "memory: accesses of kernels are checked byte by byte, and the host is kept out of "
     "device memory; race: that, and races between nodes of a graph; all; fatal: races "
     "end the context"},
    {"SOFTCUDA_JIT", "beside libcuda.so.1", "where softcuda-jit.so lies"},
    {"SOFTCUDA_CACHE", "softcuda in XDG_CACHE_HOME, else ~/.cache/softcuda",
     "folder of compiled kernels; off: none are kept"},
    {"SOFTCUDA_CACHE_BYTES", "512 MiB", "how large that folder may become"},
    {"SOFTCUDA_LOG", "none", "file (or stdout, stderr) for a line a refused call"},
    {"SOFTCUDA_SUMMARY", "none", "file that gets the process's counters at its end"},
    {"SOFTCUDA_VERDICT", "none",
     "a name, under which a process says at its end that every call was refused"},
    {"CUDA_LOG_FILE", "none", "as SOFTCUDA_LOG; CUDA's own name for it"},
    {"CUDA_VISIBLE_DEVICES", "all", "which devices the program sees, in which order"},
    {"CUDA_LAUNCH_BLOCKING", "0", "1: every launch waits for its kernel"},
    {"CUDA_MODULE_LOADING", "LAZY",
     "EAGER: kernels are compiled when a module is loaded"},
    {"CUDA_INJECTION64_PATH", "none", "library to load at cuInit, for tools"},
};

const gph_softcuda_setting *gph_softcuda_settings(size_t *count)
{
    *count = sizeof(settings) / sizeof(*settings);
    return settings;
}
