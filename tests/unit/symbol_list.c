// SPDX-License-Identifier: Apache-2.0
/* Prints what src/symbol says of addresses of a file, as `llvm-symbolizer` does: function
 * and file:line, inlined ones first, an empty line after each address.
 *
 * usage: symbol_list FILE <addresses in hex, one a line */
#include "base/heap.h"
#include "symbol/dwarf.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    bool is_same;
    char line[64];
    gphi_dwarf *dwarf =
        argc == 2 ? gphi_dwarf_open(gphi_heap(NULL), argv[1], "", &is_same) : NULL;
    if (dwarf == NULL) {
        fprintf(stderr, "usage: symbol_list FILE <ADDRESSES\n");
        return 2;
    }
    while (fgets(line, sizeof(line), stdin) != NULL) {
        gphi_dwarf_place places[16] = {{0}};
        const uint32_t count =
            gphi_dwarf_frames(dwarf, strtoull(line, NULL, 16), places, 16);
        for (uint32_t i = 0; i < count; i++)
            printf("%s\n%s:%d\n", places[i].function ? places[i].function : "??",
                   places[i].file ? places[i].file : "??", places[i].line);
        printf("\n");
    }
    gphi_dwarf_close(dwarf);
    return 0;
}
