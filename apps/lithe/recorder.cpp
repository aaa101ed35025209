#include "apps/lithe/recorder.h"

namespace lithe::cli {

void Recorder::add_step(double time, const StepRecord& record) {
  frame_.time = time;
  frame_.q = record.state.q;
  frame_.v = record.state.v;
  frame_.contacts.clear();
  const std::vector<Contact>& contacts = record.contacts.contacts;
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    const Contact& c = contacts[k];
    frame_.contacts.push_back({.a = static_cast<std::uint32_t>(int{c.a}),
                               .b = static_cast<std::uint32_t>(int{c.b}),
                               .point = c.p,
                               .normal = c.n,
                               .impulse = contact_impulse(record, static_cast<int>(k))});
  }
  writer_.append(frame_);
}

void Recorder::finish(double time, const ConstVecRef& q, const ConstVecRef& v) {
  writer_.append({.time = time, .q = q, .v = v});
  writer_.close();
}

}  // namespace lithe::cli
