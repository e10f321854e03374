# usage: cmake -DIN=knowledge.json -DOUT=knowledge.c -P embed.cmake
# Makes C tables of the knowledge base, so that a program has it without a reader of JSON,
# a file or an allocation. Fails on an entry that lacks something.
cmake_minimum_required(VERSION 3.25)

file(READ ${IN} document)
string(JSON entries GET "${document}" entries)
string(JSON entry_count LENGTH "${entries}")
math(EXPR entry_last "${entry_count} - 1")
set(arrays "")
set(table "")

# c_text(RESULT TEXT): a C string literal. No trigraphs.
function(c_text result text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  string(REPLACE "\n" "\\n" text "${text}")
  string(REPLACE "?" "\\?" text "${text}")
  set(${result} "\"${text}\"" PARENT_SCOPE)
endfunction()

# c_list(NAME JSON PATH...): an array NAME of the texts there, none if nothing is there;
# NAME_joined becomes them as one paragraph, with a space between but in Chinese.
function(c_list name json gap)
  string(JSON count ERROR_VARIABLE missing LENGTH "${json}" ${ARGN})
  set(items "")
  set(joined "")
  if(missing STREQUAL "NOTFOUND" AND count GREATER 0)
    math(EXPR last "${count} - 1")
    foreach(at RANGE ${last})
      string(JSON item GET "${json}" ${ARGN} ${at})
      c_text(literal "${item}")
      string(APPEND items "${literal}, ")
      if(NOT joined STREQUAL "")
        string(APPEND joined "${gap}")
      endif()
      string(APPEND joined "${item}")
    endforeach()
  endif()
  set(arrays "${arrays}static const char *const ${name}[] = {${items}NULL};\n" PARENT_SCOPE)
  c_text(joined "${joined}")
  set(${name}_joined "${joined}" PARENT_SCOPE)
endfunction()

# c_since(ENTRY PRODUCT): {introduced, deprecated, status, source} in `since`, and
# `introduced` of a toolkit's version; empty where the entry does not say. A driver that is
# not named is the first one of the toolkit.
function(c_since entry product)
  set(values "")
  foreach(part introduced deprecated status source)
    string(JSON value ERROR_VARIABLE missing GET "${entry}" ${product} ${part})
    if(NOT missing STREQUAL "NOTFOUND")
      set(value "")
    endif()
    set(${part} "${value}")
  endforeach()
  string(JSON toolkit ERROR_VARIABLE missing GET "${entry}" cuda introduced)
  if(product STREQUAL "driver" AND introduced STREQUAL "" AND missing STREQUAL "NOTFOUND")
    string(JSON introduced GET "${document}" drivers ${toolkit})
    string(JSON source GET "${document}" drivers_source)
    string(JSON status GET "${entry}" cuda status)
  endif()
  if(NOT introduced STREQUAL "" AND source STREQUAL "")
    message(FATAL_ERROR "${product} has no source: ${entry}")
  endif()
  foreach(part introduced deprecated status source)
    c_text(value "${${part}}")
    string(APPEND values "${value}, ")
  endforeach()
  set(since "{${values}}" PARENT_SCOPE)
endfunction()

foreach(index RANGE ${entry_last})
  string(JSON entry GET "${entries}" ${index})
  string(JSON slug GET "${entry}" slug)
  string(JSON kind GET "${entry}" kind)
  string(TOUPPER ${kind} kind)
  string(JSON rank GET "${entry}" rank)
  string(JSON shown_by GET "${entry}" shown_by)
  c_text(slug_text "${slug}")
  c_text(shown_by "${shown_by}")
  string(APPEND table "    {${slug_text}, GPH_EXPLAIN_${kind}, ${rank}, ")
  foreach(list codes names messages words see)
    c_list(e${index}_${list} "${entry}" "" ${list})
    string(APPEND table "e${index}_${list}, ")
  endforeach()
  string(APPEND table "${shown_by},\n     {")
  foreach(language en zh)
    set(gap " ")
    if(language STREQUAL "zh")
      set(gap "")
    endif()
    foreach(part title cause)
      string(JSON ${part} GET "${entry}" ${language} ${part})
      c_text(${part} "${${part}}")
    endforeach()
    foreach(list fix in_vain versions)
      c_list(e${index}_${language}_${list} "${entry}" "${gap}" ${language} ${list})
    endforeach()
    set(own e${index}_${language})
    string(APPEND table "{${title},\n       ${cause},\n       ${own}_fix, ${own}_in_vain, "
      "${own}_versions,\n       ${${own}_fix_joined},\n       ${${own}_in_vain_joined}},\n      ")
  endforeach()
  string(APPEND table "},\n     {")
  foreach(product cuda driver pytorch)
    c_since("${entry}" ${product})
    string(APPEND table "${since},\n      ")
  endforeach()
  string(APPEND table "}},\n")
endforeach()

file(WRITE ${OUT} "// SPDX-License-Identifier: Apache-2.0
/* Made of src/explain/knowledge.json by src/explain/embed.cmake. sizes: table */
#include \"explain/knowledge.h\"

${arrays}
const gph_explain_entry gphi_knowledge[] = {
${table}};
const size_t gphi_knowledge_count = ${entry_count};
")
