#include "lithe/step/gradient_report.h"

namespace lithe {

const char* to_string(GradientMode mode) {
  switch (mode) {
    case GradientMode::exact: return "exact";
    case GradientMode::bounce_mass_metric: return "bounce_mass_metric";
    case GradientMode::bounce_paper: return "bounce_paper";
    case GradientMode::complementarity_aware: return "complementarity_aware";
  }
  return "unknown";
}

}  // namespace lithe
