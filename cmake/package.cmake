# Debian's packages, which scripts/deb.sh makes: the command and the libraries with their guides,
# what builds against them, and softcuda. What they depend on is read off the files.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME graphophone)
set(CPACK_PACKAGE_CONTACT "Graphophone maintainers <maintainers@graphophone.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "CUDA graphs: capture, replay and diagnosis")
set(CPACK_COMPONENTS_ALL program manual development softcuda)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME graphophone)
set(CPACK_DEBIAN_COMMAND_DESCRIPTION
  "CUDA graphs: capture, replay and diagnosis
 The command gph, which runs, examines and explains programs that use CUDA
 graphs, and the libraries libgph and libgph-doctor.")
set(CPACK_DEBIAN_COMMAND_PACKAGE_SUGGESTS graphophone-softcuda)
set(CPACK_DEBIAN_COMMAND_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/cmake/debian/triggers)
set(CPACK_DEBIAN_HEADERS_PACKAGE_NAME graphophone-dev)
set(CPACK_DEBIAN_HEADERS_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_HEADERS_PACKAGE_DEPENDS "graphophone (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_HEADERS_DESCRIPTION
  "CUDA graphs: headers of libgph
 Headers, pkg-config and CMake files, a linker's stub of the CUDA driver, and
 a manual page for each function.")
set(CPACK_DEBIAN_DRIVER_PACKAGE_NAME graphophone-softcuda)
set(CPACK_DEBIAN_DRIVER_DESCRIPTION
  "CUDA graphs: a software CUDA driver
 Executes CUDA programs and their graphs on CPU threads, without a GPU:
 gph run PROGRAM.")
set(CPACK_DEBIAN_DRIVER_PACKAGE_DEPENDS "graphophone (= ${PROJECT_VERSION})")
include(CPack)
cpack_add_component_group(command)
cpack_add_component_group(headers)
cpack_add_component_group(driver)
cpack_add_component(program GROUP command)
cpack_add_component(manual GROUP command)
cpack_add_component(development GROUP headers)
cpack_add_component(softcuda GROUP driver)
