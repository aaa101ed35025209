# Ipopt::Ipopt, the interior-point solver of COIN-OR; it brings no CMake package of its own.
find_path(Ipopt_INCLUDE_DIR IpIpoptApplication.hpp PATH_SUFFIXES coin coin-or)
find_library(Ipopt_LIBRARY ipopt)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Ipopt REQUIRED_VARS Ipopt_LIBRARY Ipopt_INCLUDE_DIR)
if(Ipopt_FOUND AND NOT TARGET Ipopt::Ipopt)
  add_library(Ipopt::Ipopt UNKNOWN IMPORTED)
  set_target_properties(Ipopt::Ipopt PROPERTIES
    IMPORTED_LOCATION "${Ipopt_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${Ipopt_INCLUDE_DIR}"
    INTERFACE_COMPILE_DEFINITIONS HAVE_CSTDDEF # its headers ask for it
  )
endif()
mark_as_advanced(Ipopt_INCLUDE_DIR Ipopt_LIBRARY)
