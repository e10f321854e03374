# usage: cmake -DIN=asked.txt -DOUT=asked.c -P embed_asked.cmake
# Makes a C table of the questions to each entry: its slug, and all of them as one text, a
# line each. A pointer each would need more room than most questions.
cmake_minimum_required(VERSION 3.25)

file(STRINGS ${IN} lines REGEX "^[^#]" ENCODING UTF-8)
set(table "")
set(is_open FALSE)
foreach(line IN LISTS lines)
  string(REPLACE "\\" "\\\\" line "${line}")
  string(REPLACE "\"" "\\\"" line "${line}")
  string(REPLACE "?" "\\?" line "${line}")
  if(line MATCHES "^= (.+)")
    if(is_open)
      string(APPEND table "    },\n")
    endif()
    string(APPEND table "    {\"${CMAKE_MATCH_1}\",\n")
    set(is_open TRUE)
  else()
    string(APPEND table "     \"${line}\\n\"\n")
  endif()
endforeach()

file(WRITE ${OUT} "// SPDX-License-Identifier: Apache-2.0
/* Made of src/explain/asked.txt by src/explain/embed_asked.cmake. sizes: table */
#include \"explain/knowledge.h\"

const gphi_asked gphi_asked_list[] = {
${table}    },
    {NULL, NULL},
};
")
