# The toolchain of scripts/wheel.sh: zig's clang, which links for the glibc that it is given, and
# what of Debian is linked in, from a folder that holds nothing else. WHEEL_TARGET is zig's word
# (x86_64-linux-gnu.2.28), WHEEL_FOLDER has bin/zig-cc, zig-ar, zig-ranlib, and deps/.
set(folder $ENV{WHEEL_FOLDER})
string(REGEX MATCH "^[^-]+" CMAKE_SYSTEM_PROCESSOR $ENV{WHEEL_TARGET})
set(CMAKE_SYSTEM_NAME Linux)
foreach(language C ASM)
  set(CMAKE_${language}_COMPILER ${folder}/bin/zig-cc)
endforeach()
set(CMAKE_AR ${folder}/bin/zig-ar)
set(CMAKE_RANLIB ${folder}/bin/zig-ranlib)

# Debian's own headers of glibc must not be seen.
set(CMAKE_FIND_ROOT_PATH ${folder}/deps)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)

set(CMAKE_C_STANDARD_INCLUDE_DIRECTORIES ${folder}/deps/include)

# What calls the unwinder asks for that of the system; whatever else is not found shall be found out.
set(CMAKE_C_STANDARD_LIBRARIES "-Wl,--as-needed ${folder}/deps/lib/libgcc_s.so")
set(CMAKE_SHARED_LINKER_FLAGS_INIT -Wl,-z,defs)

# LLVM's archives are of GNU's C++; zig has an unwinder of its own.
set(deps ${folder}/deps/lib)
set(GPH_LLVM_NEEDS ${deps}/libstdc++.a ${deps}/libz.a ${deps}/libzstd.a -lunwind CACHE STRING "")
file(GLOB licenses ${folder}/licenses/*)
set(GPH_LICENSES ${licenses} CACHE STRING "")
