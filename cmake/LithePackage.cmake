# The Debian package: what cpack makes of a build that tools/package.sh configures.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME lithe)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The Lithe authors <lithe@localhost>") # dpkg wants an address; there is none to write to
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "differentiable physics engine")
set(CPACK_PACKAGE_DESCRIPTION
"Articulated rigid bodies with hard contact, simulated in generalised coordinates, and exact derivatives of every step by state, forces
and the model's numbers; robots from URDF, SDF and MJCF files; trajectory optimisation.

This package has the C++ library with its headers and its CMake package, the command line lithe and the viewer's page.")
set(CPACK_STRIP_FILES ON)

# One package for everything but Python, which pip installs.
set(CPACK_COMPONENTS_ALL library command)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libeigen3-dev (>= 3.4), libfmt-dev") # Lithe's headers include theirs
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)                                 # and what the binaries are linked with
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)                           # for packages of programs that use liblithe.so
include(CPack)

# Debian wants the licence here, and that of CLI11, whose headers the command line is compiled with, asks to go along.
file(READ LICENSE copyright)
string(PREPEND copyright "Lithe: a differentiable physics engine\n\n")
set(cli11 /usr/share/doc/libcli11-dev/copyright)
if(EXISTS ${cli11})
  file(READ ${cli11} text)
  string(APPEND copyright "\n\nThe command line contains CLI11:\n\n${text}")
endif()
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/copyright CONTENT "${copyright}" @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT library)
