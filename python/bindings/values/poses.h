#pragma once

#include <fmt/format.h>

#include "lithe/spatial/pose.h"
#include "python/bindings/values/fixed_arrays.h"

namespace lithe::python {

// A place: a Pose, a translation (3,), a homogeneous transform (4, 4), or None for no move at all.
class PoseIn {
 public:
  PoseIn() = default;
  explicit PoseIn(nb::handle object) : object_(nb::borrow(object)) {}

  Pose get(const char* name) const {
    if (!object_.is_valid() || object_.is_none()) return {};
    const Pose* pose = nullptr;
    if (nb::try_cast(object_, pose, false) && pose) return *pose;
    const ArrayIn array(object_);
    const std::vector<Eigen::Index> shape = array.view(name).shape;
    if (shape == std::vector<Eigen::Index>{3}) return Pose::translation(Vec3(fixed<3>(array, name)));
    if (shape == std::vector<Eigen::Index>{4, 4}) {
      const Mat4 T = fixed<4, 4>(array, name);
      if (T.row(3) == Eigen::RowVector4d(0, 0, 0, 1))
        return {.R = T.topLeftCorner<3, 3>(), .p = T.topRightCorner<3, 1>()};
      throw nb::value_error(fmt::format("{}: the last row of a transform (4, 4) must be 0, 0, 0, 1", name).c_str());
    }
    throw nb::value_error(fmt::format("{}: expected a Pose, a translation (3,) or a transform (4, 4), got shape {}",
                                      name, shape_text(shape))
                              .c_str());
  }

 private:
  using Mat4 = Eigen::Matrix4d;
  nb::object object_;
};

// "[0, 0, 1]", for people.
inline std::string text_of(const Vec3& v) { return fmt::format("[{:g}, {:g}, {:g}]", v.x(), v.y(), v.z()); }

// A copy that cannot be written to: of a member, writing into it would change nothing, and should not go unnoticed.
inline Array read_only(const VecX& v) {
  Array array = to_numpy(v);
  array.object.attr("setflags")(nb::arg("write") = false);
  return array;
}

// A member that is a vector as an array (n,). To change it, assign a whole one.
template <class Class, class Member>
void define_vector(Class& c, const char* name, Member member, const char* doc) {
  using T = typename Class::Type;
  c.def_prop_rw(
      name, [member](const T& self) { return read_only(self.*member); },
      [member, name](T& self, const ArrayIn& value) {
        auto& v = self.*member;
        v = value.vector(name, v.size());
      },
      doc);
}

template <class Class, class Member>
void define_pose(Class& c, const char* name, Member member, const char* doc) {
  using T = typename Class::Type;
  c.def_prop_rw(
      name, [member](T& self) -> Pose& { return self.*member; },
      [member, name](T& self, const PoseIn& value) { self.*member = value.get(name); },
      nb::for_getter(nb::rv_policy::reference_internal), doc);
}

}  // namespace lithe::python

namespace nanobind::detail {

template <>
struct type_caster<lithe::python::PoseIn> {
  NB_TYPE_CASTER(lithe::python::PoseIn, const_name("Pose | numpy.typing.ArrayLike"))
  bool from_python(handle source, uint8_t, cleanup_list*) noexcept {
    value = lithe::python::PoseIn(source);
    return true;
  }
  static handle from_cpp(const lithe::python::PoseIn&, rv_policy, cleanup_list*) noexcept { return none().release(); }
};

}  // namespace nanobind::detail
