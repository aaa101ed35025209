#pragma once

#include <string>
#include <vector>

#include "lithe/io/internal/resources.h"
#include "lithe/io/loaded_model.h"

namespace lithe::internal {

// What an SRDF (MoveIt's companion of a URDF) says that a model can hold: which links do not collide, and states that
// have names.
struct Srdf {
  // Two links of <disable_collisions> or <enable_collisions>.
  struct Pair {
    std::string a, b;
    SourcePlace place = {};
  };
  struct Silent {  // <disable_default_collisions>: collides with nobody but where <enable_collisions> says so
    std::string link;
    SourcePlace place = {};
  };
  // A <joint> in a <group_state>: its name and its coordinates.
  struct Position {
    std::string joint;
    VecX values = {};
    SourcePlace place = {};
  };
  struct State {
    std::string name;
    std::vector<Position> positions = {};
  };
  std::vector<Pair> disabled = {}, enabled = {};
  std::vector<Silent> silent = {};
  std::vector<State> states = {};             // one per name: those of several groups are one
  std::vector<std::string> root_joints = {};  // <virtual_joint>
};

// Reads an SRDF. A file that is none is refused. Unknown elements are let pass, as the format means it, unless they
// look misspelt.
Srdf read_srdf(const XmlElement& robot, WarningList& warnings);

// The path of the SRDF that belongs to a URDF by its name: STEM.srdf beside STEM.urdf, or in a folder "srdf" beside the
// URDF's folder. Empty if there is none. One that is a link to somewhere else is a warning, unless
// LoadOptions::anywhere.
std::string find_srdf(const std::string& urdf, const LoadOptions& options, WarningList& warnings);

// Puts the pairs into the builder and the model, and the states into the keyframes. Joints that a state leaves out are
// where loaded.q has them. Unknown links and joints are warnings. Returns whether the file lists pairs of links that
// are here.
bool apply_srdf(const Srdf& srdf, LoadedModel& loaded, WarningList& warnings);

}  // namespace lithe::internal
