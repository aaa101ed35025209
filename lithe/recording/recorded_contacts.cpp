#include "lithe/recording/recorded_contacts.h"

namespace lithe {

std::vector<RecordedContact> recorded_contacts(const StepRecord& record) {
  std::vector<RecordedContact> all;
  const std::vector<Contact>& contacts = record.contacts.contacts;
  for (std::size_t k = 0; k < contacts.size(); ++k) {
    const Contact& c = contacts[k];
    // A recording is read without a model, so indices become plain numbers.
    all.push_back({.a = static_cast<std::uint32_t>(int{c.a}),
                   .b = static_cast<std::uint32_t>(int{c.b}),
                   .point = c.p,
                   .normal = c.n,
                   .impulse = contact_impulse(record, static_cast<int>(k))});
  }
  return all;
}

}  // namespace lithe
