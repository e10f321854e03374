# What `cmake --install` puts where. softcuda lies apart, where no linker looks. Components:
# `program` (the libraries and the command), `softcuda`; the wheels are made of one each. Beside
# them `manual` and `development`, which Debian's packages have (package.cmake).
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/gph)
install(TARGETS gph gph-doctor EXPORT gphTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT program NAMELINK_COMPONENT development)
install(TARGETS gph_stub LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/gph/stub
  COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/gph
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development FILES_MATCHING PATTERN "*.h")

# From a .pc file to the prefix, so that the tree may be moved.
file(RELATIVE_PATH GPH_PC_PREFIX /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
foreach(library gph gph-doctor)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${library}.pc.in ${PROJECT_BINARY_DIR}/${library}.pc
    @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${library}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endforeach()

install(EXPORT gphTargets NAMESPACE gph:: DESTINATION ${package_dir}
  COMPONENT development)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/gphConfig.cmake.in
  ${PROJECT_BINARY_DIR}/gphConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/gphConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/gphConfig.cmake
  ${PROJECT_BINARY_DIR}/gphConfigVersion.cmake DESTINATION ${package_dir}
  COMPONENT development)

# The guides, which findings and entries refer to, in docs/ below README.md as in the source, so
# that links and "see: docs/..." lead there. That of the design is for who has the source.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT manual
  FILES_MATCHING PATTERN "*.md" PATTERN "*-h200.txt" PATTERN "*.json" PATTERN "*.html" PATTERN "*.png"
  PATTERN "design" EXCLUDE PATTERN "guide" EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
  ${PROJECT_SOURCE_DIR}/SECURITY.md ${PROJECT_SOURCE_DIR}/LICENSE
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT manual)
