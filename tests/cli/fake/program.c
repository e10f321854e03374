// SPDX-License-Identifier: Apache-2.0
/* usage: program CALLS [EXIT]: a driver-API program, linked with the stub. It says what
 * it was given, calls cuInit CALLS times, and exits; EXIT "signal" ends it by SIGTERM. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cuInit(unsigned int flags);

int main(int argc, char **argv)
{
    const int calls = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 0; i < calls; i++) {
        const int result = cuInit(0);
        if (result != 0)
            printf("cuInit: %d\n", result);
    }
    const char *driver = getenv("GPH_DRIVER");
    printf("%d calls, driver %s\n", calls, driver != NULL ? driver : "not chosen");
    fflush(stdout);
    if (argc > 2 && strcmp(argv[2], "signal") == 0)
        raise(SIGTERM);
    return argc > 2 ? atoi(argv[2]) : 0;
}
