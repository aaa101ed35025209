#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "lithe/core/check.h"

namespace lithe::test {

// The text of the lithe::Error that `action` throws; fails and returns "" if it throws none.
template <class Action>
std::string error_text(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no lithe::Error was thrown";
  return "";
}

// Expects an Error whose text contains every one of the parts.
template <class Action, class... Parts>
void expect_error(Action action, const Parts&... parts) {
  const std::string text = error_text(action);
  const std::initializer_list<std::string_view> wanted = {parts...};
  for (const std::string_view part : wanted) {
    EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
  }
}

}  // namespace lithe::test
