// Takes the place of ipopt_program.cpp in builds without IPOPT (LITHE_WITH_IPOPT=OFF).
#include "lithe/core/check.h"
#include "lithe/optimize/solvers/ipopt_program.h"

namespace lithe::internal {

IpoptResult solve_with_ipopt(NonlinearProgram&, const IpoptSettings&) {
  throw Error(
      "multiple shooting needs IPOPT, and this build of Lithe is without it: configure with -D LITHE_WITH_IPOPT=ON (on "
      "Debian and "
      "Ubuntu the package is coinor-libipopt-dev), or use ddp() or single_shooting()");
}

}  // namespace lithe::internal
