// SPDX-License-Identifier: Apache-2.0
/* usage: loads LIBRARY: loads a library that has a static runtime inside, while other threads
 * load and unload, and runs what is in it; unloads it and does so again, when it may well
 * come to the same place. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static atomic_int is_over;

static void *load_others(void *unused)
{
    (void)unused;
    while (!atomic_load(&is_over)) {
        void *other = dlopen("libm.so.6", RTLD_NOW);
        if (other)
            dlclose(other);
    }
    return NULL;
}

static int load_and_run(const char *path)
{
    int (*run)(void) = NULL;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *object = library ? dlsym(library, "replaced_run") : NULL;
    memcpy(&run, &object, sizeof(run));
    if (!run)
        fprintf(stderr, "%s\n", dlerror());
    const int result = run ? run() : 2;
    if (library)
        dlclose(library);
    return result;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    const char *path = argc > 1 ? argv[1] : "";
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, load_others, NULL) != 0)
            return 2;
    const int first = load_and_run(path), second = load_and_run(path);
    atomic_store(&is_over, 1);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return first != 0 ? first : second;
}
