// SPDX-License-Identifier: Apache-2.0
/* Programs and libraries that questions name and entries are about. */
#ifndef GPHI_EXPLAIN_PRODUCTS_H
#define GPHI_EXPLAIN_PRODUCTS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A bit for each product that the text names. */
uint32_t gphi_products_of(const char *text, size_t bytes);

/* The bit of the product that an entry is about, by its slug ("vllm/options"); 0: of
 * none. */
uint32_t gphi_product_of_slug(const char *slug);

/* Whether it is a program that people name when they ask about it: who asks without a name
 * means CUDA, PyTorch or a library under all of them. */
bool gphi_product_is_engine(uint32_t product);
#endif
