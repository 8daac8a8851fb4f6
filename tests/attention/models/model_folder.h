#pragma once

#include <gtest/gtest.h>

#include "tests/attention/models/golden_models.h"
#include "tests/support/temporary_folder.h"

namespace headscope::attention::test {

/// A copy of a golden model that may be changed.
class ModelFolder {
 public:
  explicit ModelFolder(const std::string& family) {
    for (const auto& entry : std::filesystem::directory_iterator(goldenModel(family)))
      if (entry.path().filename() != "expected.safetensors")
        std::filesystem::copy_file(entry.path(), folder_ / entry.path().filename().string());
  }
  std::filesystem::path path() const { return folder_.path(); }
  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }
  /// The error of opening it, without the folder's name.
  std::string refusal() const {
    const auto model = Model::open(path());
    if (model) return "no error";
    std::string message = model.error().message;
    for (std::size_t at; (at = message.find(path().string())) != std::string::npos;)
      message.replace(at, path().string().size(), "F");
    return message;
  }
  void replace(const std::string& name, const std::string& from, const std::string& to) const {
    std::string text = headscope::test::fileText(path() / name);
    ASSERT_NE(text.find(from), std::string::npos);
    text.replace(text.find(from), from.size(), to);
    headscope::test::putFile(path() / name, text);
  }

 private:
  headscope::test::TemporaryFolder folder_;
};

inline std::shared_ptr<const Model> opened(const ModelFolder& folder) {
  return openModel(folder.path());
}

}  // namespace headscope::attention::test
