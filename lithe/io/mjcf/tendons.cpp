#include "lithe/io/mjcf/parts.h"

namespace lithe::internal::mjcf {

namespace {

// A tendon's own forces and bounds are not honoured: a Model has nothing that acts between several joints.
constexpr NotHonoured kTendonNotHonoured[] = {
    {"limited range stiffness damping frictionloss springlength armature actuatorfrclimited actuatorfrcrange "
     "solreflimit solimplimit solreffriction solimpfriction margin",
     "tendons only carry what actuators pull with"},
};
constexpr AttributeRules kTendonRules = {"name class group user width material rgba", kTendonNotHonoured};

// Reads the joints of a <fixed> tendon, with their coefficients.
void read_fixed_tendon(Context& context, const XmlElement& element, TendonPart& tendon) {
  for (const XmlElement& part : context.includes.children(element)) {
    if (part.name() != "joint") {
      context.warn_of_unknown(part, element);
      continue;
    }
    check_attributes(part, {"joint coef"}, context.warnings);
    const JointPlace place = context.scene.find_joint(part, "joint");
    if (!context.scene.joint(place).has_one_dof()) part.fail("a tendon goes over hinges and slides only");
    tendon.joints.emplace_back(place, part.required_number("coef"));
  }
}

}  // namespace

// A tendon is no part of a Model, but actuators may pull at one (ActuatorReader). A spatial one is kept by its name
// only, so that an actuator that names it is left out and not refused.
void read_tendons(Context& context, const std::vector<XmlElement>& sections) {
  for (const XmlElement& section : sections) {
    for (const XmlElement& element : context.includes.children(section)) {
      const bool fixed = element.name() == "fixed";
      if (!fixed && element.name() != "spatial") {
        context.warn_of_unknown(element, section);
        continue;
      }
      TendonPart tendon{.joints = {}, .fixed = fixed};
      if (fixed) {
        check_attributes(element, kTendonRules, context.warnings);
        read_fixed_tendon(context, element, tendon);
      } else {
        context.warnings.add(element.place(), "mjcf.tendon", "<spatial> is not read: the model has nothing like it");
      }
      if (const char* name = Attributes(element).name()) {
        if (!context.scene.tendons.emplace(name, std::move(tendon)).second)
          element.fail(fmt::format("there are two tendons named \"{}\"", name));
      }
    }
  }
}

}  // namespace lithe::internal::mjcf
