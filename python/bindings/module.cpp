#include <nanobind/nanobind.h>

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
