# usage: cmake -DIN=numbers.py -DOUT=numbers_py.h -DNAME=attach_numbers_py -P embed.cmake
# Makes a C array of a text, with a final 0.
cmake_minimum_required(VERSION 3.25)
file(READ ${IN} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
file(WRITE ${OUT} "/* Made by attach/interpreter/embed.cmake. */\nstatic const char ${NAME}[] = {${bytes}0};\n")
