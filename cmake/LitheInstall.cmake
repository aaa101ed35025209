# The package: find_package(lithe) gives lithe::lithe and one target per room.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/lithe)
install(EXPORT lithe NAMESPACE lithe:: FILE litheTargets.cmake DESTINATION ${package_dir} COMPONENT library)

write_basic_package_version_file(${PROJECT_BINARY_DIR}/litheConfigVersion.cmake
  COMPATIBILITY SameMinorVersion # until 1.0 a minor version may break
)
configure_file(cmake/litheConfig.cmake.in ${PROJECT_BINARY_DIR}/litheConfig.cmake @ONLY)
install(
  FILES
    ${PROJECT_BINARY_DIR}/litheConfig.cmake
    ${PROJECT_BINARY_DIR}/litheConfigVersion.cmake
    cmake/FindIpopt.cmake
  DESTINATION ${package_dir} COMPONENT library
)
