// SPDX-License-Identifier: Apache-2.0
/* Where generated code lies: a table that signal handlers read without a lock. */
#ifndef SOFT_KERNEL_RUN_PLACE_H
#define SOFT_KERNEL_RUN_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "softcuda/kernel/load/loader.h"
#include "softcuda/memory/fault.h"

/* Makes an image findable until it is removed. False: no memory. */
bool soft_place_add(const soft_image *image);
void soft_place_remove(const soft_image *image);
/* Async-signal-safe: generated code, or a function of the section "soft_text". */
bool soft_place_holds(uintptr_t pc);

/* Functions that read or write memory for generated code, so that a fault in them is the
 * kernel's: they hold no lock and call nothing. */
#if defined(__clang__)
#define SOFT_TEXT                                                                        \
    __attribute__((section("soft_text"), noinline,                                       \
                   no_sanitize("address", "thread", "undefined")))
#else
#define SOFT_TEXT                                                                        \
    __attribute__((section("soft_text"), noinline, no_sanitize_address,                  \
                   no_sanitize_thread, no_sanitize_undefined))
#endif

void *soft_text_copy(void *to, const void *from, size_t bytes);
void *soft_text_move(void *to, const void *from, size_t bytes);
void *soft_text_fill(void *to, int value, size_t bytes);
/* A number of 1, 2, 4 or 8 bytes. */
uint64_t soft_text_load(const void *from, size_t bytes);
void soft_text_store(void *to, uint64_t value, size_t bytes);
int soft_text_compare(const void *a, const void *b, size_t bytes);
/* strnlen() */
size_t soft_text_length(const char *text, size_t most);

#endif
