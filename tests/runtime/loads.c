// SPDX-License-Identifier: Apache-2.0
/* usage: loads LIBRARY: loads a library that has a static runtime inside, while other threads
 * load and unload, and runs what is in it. */
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

int main(int argc, char **argv)
{
    pthread_t threads[2];
    int (*run)(void) = NULL;
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, load_others, NULL) != 0)
            return 2;
    void *library = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW | RTLD_LOCAL);
    void *object = library ? dlsym(library, "replaced_run") : NULL;
    memcpy(&run, &object, sizeof(run));
    if (!run)
        fprintf(stderr, "%s\n", dlerror());
    const int result = run ? run() : 2;
    atomic_store(&is_over, 1);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return result;
}
