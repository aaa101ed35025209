#pragma once

#include <array>
#include <string>
#include <string_view>

#include "lithe/io/mjcf/attributes.h"

namespace lithe::internal::mjcf {

// Which attributes are read, harmless or not honoured, for the elements of which default classes speak. Those without a
// reason are read; or they are harmless, as colours, groups of the viewer and users' numbers are; or they are warned of
// where their value is unusual.

inline constexpr std::string_view kRigid = "contacts, limits and constraints are rigid here, not springs";

inline constexpr NotHonoured kJointNotHonoured[] = {
    {"springdamper", "give stiffness and damping as numbers"},
    {"springyield", "springs do not yield"},
    {"actuatorgravcomp", "nothing compensates gravity"},
    {"solreflimit solimplimit solreffriction solimpfriction", kRigid},
};
inline constexpr AttributeRules kJointRules = {
    "name class group user type pos axis range limited ref stiffness springref damping armature frictionloss "
    "actuatorfrcrange actuatorfrclimited margin",
    kJointNotHonoured};

inline constexpr NotHonoured kGeomNotHonoured[] = {
    {"priority", "two materials meet as equals (docs/step.md)"},
    {"solmix solref solimp", kRigid},
    {"fluidshape fluidcoef", "there is no air or water around the bodies"},
    {"surfacevel", "surfaces do not move against their body"},
    {"adhesion", "nothing sticks"},
};
inline constexpr AttributeRules kGeomRules = {
    "name class group user type size pos quat axisangle xyaxes zaxis euler fromto contype conaffinity condim friction "
    "margin gap mass density shellinertia mesh material rgba castshadow hfield fitscale",
    kGeomNotHonoured};

inline constexpr AttributeRules kSiteRules = {
    "name class group user type size pos quat axisangle xyaxes zaxis euler fromto material rgba mesh"};

// maxhullvert is harmless: Lithe bounds the vertices of hulls by a rule of its own.
inline constexpr AttributeRules kMeshRules = {
    "name class file scale refpos refquat vertex face inertia content_type material normal texcoord smoothnormal "
    "maxhullvert builtin params"};

inline constexpr AttributeRules kMaterialRules = {
    "name class rgba texture texrepeat texuniform emission specular shininess reflectance metallic roughness"};

inline constexpr NotHonoured kEqualityNotHonoured[] = {{"torquescale solref solimp", kRigid}};
inline constexpr AttributeRules kEqualityRules = {
    "name class active body1 body2 anchor relpose site1 site2 joint1 joint2 polycoef", kEqualityNotHonoured};

inline constexpr NotHonoured kPairNotHonoured[] = {
    {"friction condim", "a pair of bodies has no material of its own; the geoms' friction counts"},
    {"margin", "the geoms' own margins count"},
    {"gap", "contacts act as soon as they touch"},
    {"adhesion", "nothing sticks"},
    {"solref solimp solreffriction", kRigid},
};
inline constexpr AttributeRules kPairRules = {"name class geom1 geom2", kPairNotHonoured};

// The known attributes include those of kinds of actuator that are warned of as a whole.
inline constexpr NotHonoured kActuatorNotHonoured[] = {
    {"delay nsample", "actuators act at once"},     {"armature", "give the joint this armature"},
    {"damping", "give the joint this damping"},     {"ffrange", "there is no feed-forward"},
    {"velrange", "targets are taken as they come"},
};
inline constexpr AttributeRules kActuatorRules = {
    "name class group user joint jointinparent tendon site refsite body slidersite cranksite cranklength gear "
    "ctrlrange ctrllimited forcerange forcelimited inheritrange kp kv gaintype gainprm biastype biasprm dyntype dynprm "
    "dampratio timeconst area diameter bias gain range force scale lmin lmax vmax fpmax fvmax tausmooth actdim "
    "actearly "
    "plugin instance ki imax slewmax posrange input cogging controller inductance lugre motorconst nominal resistance "
    "saturation thermal lengthrange actlimited actrange interp",
    kActuatorNotHonoured};

bool is_actuator(std::string_view element);       // a child of <actuator>: motor, position, general …
bool is_quiet_default(std::string_view element);  // in <default>: only seen, or warned of where used

// Whether an attribute means something for one kind of actuator only. Default classes keep it by its key:
// "position.kp".
bool is_gain(std::string_view attribute);
std::string gain_key(std::string_view element, std::string_view attribute);

// The five attributes by which an orientation can be given.
inline constexpr std::array<const char*, 5> kOrientations = {"quat", "axisangle", "xyaxes", "zaxis", "euler"};
// Removes from a class the orientation that this element of the class replaces by one of the other ways.
void drop_replaced_orientations(const XmlElement& element, DefaultSet& set);

}  // namespace lithe::internal::mjcf
