#pragma once

#include <gmock/gmock.h>

#include <source_location>
#include <stdexcept>
#include <string>

#include "attention/core/result.h"

namespace headscope {

// The matchers that tests in all folders use.
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSubsetOf;
using ::testing::Not;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

/// A result that has to be a value. If it is an error, the test fails with its message and ends.
template <typename T>
attention::Result<T> checked(attention::Result<T> result,
                             std::source_location at = std::source_location::current()) {
  if (result) return result;
  ADD_FAILURE_AT(at.file_name(), static_cast<int>(at.line())) << result.error().message;
  throw std::runtime_error(std::string(at.file_name()) + ":" + std::to_string(at.line()) + ": " +
                           result.error().message);
}

/// Matches `start` and then the text; "…" at either end of the text stands for anything.
inline ::testing::Matcher<std::string> Says(const std::string& start, std::string text) {
  const std::string gap = "…";
  const bool open = text.starts_with(gap), more = text.ends_with(gap);
  text = text.substr(open ? gap.size() : 0);
  text = text.substr(0, text.size() - (more ? gap.size() : 0));
  if (open && more) return AllOf(StartsWith(start), HasSubstr(text));
  if (open) return AllOf(StartsWith(start), EndsWith(text));
  return more ? ::testing::Matcher<std::string>(StartsWith(start + text)) : start + text;
}

/// The message of an error, or "no error".
template <typename T>
std::string messageOf(const attention::Result<T>& result) {
  return result ? "no error" : result.error().message;
}

}  // namespace headscope
