// SPDX-License-Identifier: Apache-2.0
/* The files of the page, as they are: CMake says where they lie. */
#if defined(__aarch64__)
#define IS_OBJECT %object
#else
#define IS_OBJECT @object
#endif

.macro embed name, file
    .global gphi_page_\name, gphi_page_\name\()_end
    .hidden gphi_page_\name, gphi_page_\name\()_end
    .type gphi_page_\name, IS_OBJECT
gphi_page_\name:
    .incbin "\file"
gphi_page_\name\()_end:
    .byte 0
.endm

    .section .rodata
    embed css, GPH_PAGE_CSS
    embed html, GPH_PAGE_HTML
    embed d3, GPH_PAGE_D3
    embed code, GPH_PAGE_CODE
    .section .note.GNU-stack, "", %progbits
