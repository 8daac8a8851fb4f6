#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "app/pages/mask/mask_state.h"
#include "app/widgets/dialog.h"
#include "attention/masks/pattern.h"

namespace headscope::app::mask_page {

/// A gallery of all patterns, from which to add one to the edited mask.
class Gallery : public Dialog {
 public:
  explicit Gallery(State& page) : page_(page) {}
  std::string name() const override { return "gallery"; }
  void draw(Scene& scene, View& view, bool opening) override;

 private:
  const attention::PatternInfo* cards(View& view, bool takesFirst);
  State& page_;
  std::string search_;
};

/// Asks what the numbers in an opened file mean.
class ConventionDialog : public Dialog {
 public:
  using Chosen = std::function<void(attention::MaskConvention)>;
  ConventionDialog(std::filesystem::path file, std::vector<attention::MaskConvention> possible, Chosen chosen)
      : file_(std::move(file)), possible_(std::move(possible)), chosen_(std::move(chosen)) {}
  std::string name() const override { return "convention"; }
  void draw(Scene& scene, View& view, bool opening) override;

 private:
  std::filesystem::path file_;
  std::vector<attention::MaskConvention> possible_;
  Chosen chosen_;
};

}  // namespace headscope::app::mask_page
