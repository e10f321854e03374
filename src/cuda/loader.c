// SPDX-License-Identifier: Apache-2.0
/* The one driver of the process.
 *
 *   option, else GPH_DRIVER, else cuda
 *      cuda: libcuda.so.1 by the linker's rules
 *      soft: a libcuda.so.1 that is softcuda: loaded already (gph run), else by its path
 *      auto: the first if it has a device, else the second
 *
 * A driver is never unloaded: it has threads, and handles of it may be alive. */
#define _GNU_SOURCE
#include "cuda/loader.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/thread.h"

#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* CUDA 12.0: cuGraphInstantiateWithParams and the calls beside it. What came until 12.4 has an
 * older form (older.c), or its users say that it is not there. */
enum { VERSION_MIN = 12000 };

typedef CUresult get_proc_fn(const char *, void **, int, cuuint64_t,
                             CUdriverProcAddressQueryResult *);

struct gphi_driver {
    unsigned users;
    void *library;
    void *idle; /* NVIDIA's, once auto has found that it has no device */
    get_proc_fn *get_proc;
    char path[PATH_MAX];
    gphi_cuda_source source;
};

static gphi_mutex driver_mutex = GPHI_MUTEX_INIT;
static gphi_driver the_driver; /* users == 0: none is open */

/* POSIX lets an object pointer of dlsym's be a function pointer; C does not. */
static gph_cuda_fn symbol(void *library, const char *name)
{
    void *object = dlsym(library, name);
    gph_cuda_fn function;
    memcpy(&function, &object, sizeof(function));
    return function;
}

static gph_cuda_fn find_in_driver(void *user, const char *name, int version)
{
    const gphi_driver *driver = user;
    if (version == 0) /* no call of CUDA's: softcuda's own, or one newer than our list */
        return symbol(driver->library, name);

    void *object = NULL;
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    const CUresult result =
        driver->get_proc(name, &object, version, CU_GET_PROC_ADDRESS_DEFAULT, &found);
    gph_cuda_fn function;
    memcpy(&function, &object, sizeof(function));
    return result == CUDA_SUCCESS && found == CU_GET_PROC_ADDRESS_SUCCESS ? function
                                                                          : NULL;
}

static bool is_softcuda(void *library)
{
    return dlsym(library, "gph_softcuda_version");
}

/* Where the library really lies, for messages. */
static void note_path(gphi_driver *driver, const char *fallback)
{
    Dl_info info;
    void *init = dlsym(driver->library, "cuInit");
    const bool is_known = init && dladdr(init, &info) != 0;
    snprintf(driver->path, sizeof(driver->path), "%s",
             is_known ? info.dli_fname : fallback);
}

static gph_status check_version(gphi_driver *driver, gph_error *error)
{
    CUresult (*get_version)(int *) =
        (CUresult(*)(int *))symbol(driver->library, "cuDriverGetVersion");
    driver->get_proc = (get_proc_fn *)symbol(driver->library, "cuGetProcAddress_v2");
    int version = 0;
    if (!get_version || get_version(&version) != CUDA_SUCCESS)
        return gphi_fail(error, GPH_E_UNSUPPORTED, "%s is not a CUDA driver",
                         driver->path);
    if (version < VERSION_MIN || !driver->get_proc)
        return gphi_fail(error, GPH_E_UNSUPPORTED,
                         "%s is a driver for CUDA %d.%d; 12.0 or newer is needed",
                         driver->path, version / 1000, version % 1000 / 10);
    return GPH_OK;
}

/* Takes the library; closes it on failure. */
static gph_status adopt(gphi_driver *driver, void *library, gph_driver kind,
                        const char *name, gph_error *error)
{
    driver->library = library;
    note_path(driver, name);
    const gph_status status = check_version(driver, error);
    if (status != GPH_OK) {
        dlclose(library);
        return status;
    }
    driver->source.find = find_in_driver;
    driver->source.user = driver;
    driver->source.kind = kind;
    driver->source.path = driver->path;
    return GPH_OK;
}

static gph_status open_cuda(gphi_driver *driver, gph_error *error)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const gph_status status =
            gphi_fail(error, GPH_E_UNSUPPORTED, "no NVIDIA driver: %s", dlerror());
        gphi_hint(error, "GPH_DRIVER=soft runs kernels on CPU threads");
        return status;
    }
    if (is_softcuda(library)) {
        dlclose(library);
        return gphi_fail(error, GPH_E_UNSUPPORTED,
                         "driver cuda was requested, but libcuda.so.1 of this process is "
                         "softcuda");
    }
    return adopt(driver, library, GPH_DRIVER_CUDA, "libcuda.so.1", error);
}

/* From the file that this code was loaded from: gph/soft/libcuda.so.1 beside it, else, of
 * the wheels, site-packages/graphophone_softcuda where it is site-packages/graphophone/lib. */
static void path_beside(char *out, size_t bytes)
{
    static const char soft[] = "gph/soft/libcuda.so.1";
    Dl_info info;
    char self[PATH_MAX] = "";
    if (dladdr(&the_driver, &info) == 0 || !realpath(info.dli_fname, self))
        self[0] = '\0';
    const char *folder = dirname(self);
    char wheel[PATH_MAX + 64], found[PATH_MAX];
    snprintf(wheel, sizeof(wheel), "%s/../../graphophone_softcuda/lib/%s", folder, soft);
    snprintf(out, bytes, "%s/%s", folder, soft);
    if (access(out, R_OK) != 0 && realpath(wheel, found))
        snprintf(out, bytes, "%s", found);
}

/* What was found, not asked for, belongs to this libgph: the wheels are two, and one may have
 * been upgraded alone. */
static gph_status check_softcuda(void *library, const char *path, gph_error *error)
{
    const char *(*version)(void) =
        (const char *(*)(void))symbol(library, "gph_softcuda_version");
    if (strcmp(version(), gph_version_text()) == 0)
        return GPH_OK;
    const gph_status status =
        gphi_fail(error, GPH_E_UNSUPPORTED, "%s is softcuda %s, and this is libgph %s",
                  path, version(), gph_version_text());
    gphi_hint(error, "install both of one version; GPH_SOFTCUDA_PATH takes any");
    return status;
}

static gph_status open_soft(gphi_driver *driver, const char *asked_path, gph_error *error)
{
    /* gph run has put it before every other libcuda.so.1 of the process. */
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (library && is_softcuda(library))
        return adopt(driver, library, GPH_DRIVER_SOFT, "libcuda.so.1", error);
    if (library && library != driver->idle) {
        driver->library = library;
        note_path(driver, "libcuda.so.1");
        dlclose(library);
        return gphi_fail(error, GPH_E_STATE,
                         "driver soft was requested, but the process uses %s already",
                         driver->path);
    }

    char path[PATH_MAX + 64];
    if (!asked_path)
        asked_path = getenv("GPH_SOFTCUDA_PATH");
    const bool is_asked = asked_path && asked_path[0] != '\0';
    if (is_asked)
        snprintf(path, sizeof(path), "%s", asked_path);
    else
        path_beside(path, sizeof(path));
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const gph_status status =
            gphi_fail(error, GPH_E_UNSUPPORTED, "no softcuda: %s", dlerror());
        gphi_hint(error, "a build without LLVM leaves softcuda out, and pip has it as "
                         "graphophone-softcuda; GPH_SOFTCUDA_PATH names another place");
        return status;
    }
    if (!is_softcuda(library)) {
        dlclose(library);
        return gphi_fail(error, GPH_E_UNSUPPORTED, "%s is not softcuda", path);
    }
    if (!is_asked && check_softcuda(library, path, error) != GPH_OK) {
        dlclose(library);
        return GPH_E_UNSUPPORTED;
    }
    return adopt(driver, library, GPH_DRIVER_SOFT, path, error);
}

static bool has_device(const gphi_driver *driver)
{
    CUresult (*init)(unsigned int) =
        (CUresult(*)(unsigned int))symbol(driver->library, "cuInit");
    CUresult (*count_devices)(int *) =
        (CUresult(*)(int *))symbol(driver->library, "cuDeviceGetCount");
    int count = 0;
    return init && count_devices && init(0) == CUDA_SUCCESS &&
           count_devices(&count) == CUDA_SUCCESS && count > 0;
}

static gph_status open_auto(gphi_driver *driver, const char *path, gph_error *error)
{
    gph_error reason = {0};
    if (open_cuda(driver, &reason) == GPH_OK) {
        if (has_device(driver)) {
            driver->source.why = "auto: it has a device";
            return GPH_OK;
        }
        snprintf(reason.message, sizeof(reason.message), "%.400s has no device",
                 driver->path);
        driver->idle = driver->library;
    }
    gphi_log("cuda", GPH_LOG_INFO, "auto falls back to softcuda: %s", reason.message);
    driver->source.why = "auto: no usable GPU";
    return open_soft(driver, path, error);
}

/* Reads GPH_DRIVER's words. */
static gph_status parse_driver(const char *word, gph_driver *out, gph_error *error)
{
    if (strcmp(word, "auto") == 0)
        *out = GPH_DRIVER_AUTO;
    else if (strcmp(word, "cuda") == 0)
        *out = GPH_DRIVER_CUDA;
    else if (strcmp(word, "soft") == 0)
        *out = GPH_DRIVER_SOFT;
    else
        return gphi_fail(error, GPH_E_INVALID,
                         "GPH_DRIVER is \"%.64s\": one of auto, cuda, soft is needed",
                         word);
    return GPH_OK;
}

static gph_status settle(gph_driver *wanted, const char **why, gph_error *error)
{
    *why = "option";
    if (*wanted != GPH_DRIVER_DEFAULT)
        return GPH_OK;
    const char *variable = getenv("GPH_DRIVER");
    *why = "GPH_DRIVER";
    if (variable && variable[0] != '\0')
        return parse_driver(variable, wanted, error);
    *why = "default";
    *wanted = GPH_DRIVER_CUDA;
    return GPH_OK;
}

static gph_status open_locked(gph_driver wanted, const char *why, const char *path,
                              gph_error *error) GPHI_REQUIRES(&driver_mutex)
{
    gphi_driver *driver = &the_driver;
    driver->source.why = why;
    switch (wanted) {
    case GPH_DRIVER_AUTO: return open_auto(driver, path, error);
    case GPH_DRIVER_CUDA: return open_cuda(driver, error);
    case GPH_DRIVER_SOFT: return open_soft(driver, path, error);
    case GPH_DRIVER_DEFAULT: break;
    }
    return gphi_fail(error, GPH_E_INVALID, "driver %d is unknown", (int)wanted);
}

gph_status gphi_driver_retain(gph_driver wanted, const char *softcuda_path,
                              gphi_driver **out, gph_error *error)
{
    const char *why;
    GPHI_TRY(settle(&wanted, &why, error));

    gph_status status = GPH_OK;
    gphi_mutex_lock(&driver_mutex);
    if (the_driver.users == 0)
        status = open_locked(wanted, why, softcuda_path, error);
    else if (wanted != GPH_DRIVER_AUTO && wanted != the_driver.source.kind)
        status = gphi_fail(error, GPH_E_STATE,
                           "driver %s was requested, but the process uses %s already",
                           wanted == GPH_DRIVER_SOFT ? "soft" : "cuda", the_driver.path);
    if (status == GPH_OK) {
        the_driver.users++;
        *out = &the_driver;
    }
    gphi_mutex_unlock(&driver_mutex);
    return status;
}

void gphi_driver_release(gphi_driver *driver)
{
    gphi_mutex_lock(&driver_mutex);
    driver->users--;
    gphi_mutex_unlock(&driver_mutex);
}

const gphi_cuda_source *gphi_driver_source(const gphi_driver *driver)
{
    return &driver->source;
}
