// SPDX-License-Identifier: Apache-2.0
/* An injection library of somebody else: says that it was called. */
#include <stdio.h>
#include <stdlib.h>

__attribute__((visibility("default"))) int InitializeInjection(void);

int InitializeInjection(void)
{
    const char *path = getenv("CHAINED_FILE");
    FILE *file = path != NULL ? fopen(path, "a") : NULL;
    if (file != NULL) {
        fputs("called\n", file);
        fclose(file);
    }
    return 1;
}
