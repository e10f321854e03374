# usage: cmake -DIN=names.txt -DOUT=names_list.c -P embed_names.cmake
# Makes a C table of a list of names, one a line; lines that begin with # are comments.
cmake_minimum_required(VERSION 3.25)

file(STRINGS ${IN} names REGEX "^[^#]")
list(LENGTH names count)
list(TRANSFORM names REPLACE "(.+)" "    \"\\1\",\n")
list(JOIN names "" table)

file(WRITE ${OUT} "// SPDX-License-Identifier: Apache-2.0
/* Made of src/explain/names.txt by src/explain/embed_names.cmake. sizes: table */
#include \"explain/names.h\"

const char *const gphi_names[] = {
${table}};
const size_t gphi_names_count = ${count};
")
