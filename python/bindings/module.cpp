#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "lithe/core/build_info.h"
#include "lithe/core/check.h"
#include "lithe/core/version.h"
#include "python/bindings/parts.h"

namespace nb = nanobind;

NB_MODULE(_lithe, m) {
  using namespace lithe::python;
  m.doc() = "Lithe, a differentiable physics engine for articulated rigid bodies with hard contact.";
  m.attr("version") = lithe::kVersion;
  // Objects that live until the interpreter ends are no mistake of the user's.
  nb::set_leak_warnings(false);

  // The caller's mistakes: a ValueError with the text of C++, which names the thing and its value.
  nb::exception<lithe::Error>(m, "Error", PyExc_ValueError).attr("__doc__") =
      "A wrong size, a number that is not finite, an impossible model: the text names the thing and its value.";

  m.def(
      "build_info",
      [] {
        const lithe::BuildInfo info = lithe::build_info();
        nb::dict result;
        result["version"] = info.version;
        result["compiler"] = info.compiler;
        result["instruction_set"] = info.instruction_set;
        result["vector_instructions"] = info.vector_instructions;
        result["assertions"] = info.assertions;
        return result;
      },
      nb::sig("def build_info() -> dict[str, str | bool]"),
      "How the library at hand was compiled. A wheel holds it for x86-64-v2, v3 and v4, and the loader has picked the "
      "best that this "
      "processor runs: 'instruction_set' says which. The environment variable LITHE_LEVEL (for example x86-64-v2) asks "
      "for another.");

  bind_spatial(m);
  bind_model(m);
  bind_builder(m);
  bind_configuration(m);
  bind_io(m);
  bind_scenes(m);
  bind_dynamics(m);
  bind_step(m);
  bind_gradients(m);
  bind_batch(m);
  bind_optimize(m);
  bind_recording(m);
  bind_view(m);
}
