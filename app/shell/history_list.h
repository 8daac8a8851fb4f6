#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/scene/document.h"
#include "app/widgets/dialog.h"

namespace headscope::app {

/// The document's steps, each named after its change, newest first. The arrows or a click go to a step, and
/// the scene follows at once; Enter closes the list.
class HistoryList : public Dialog {
 public:
  explicit HistoryList(std::shared_ptr<Document> document) : document_(std::move(document)) {}
  std::string name() const override { return "history"; }
  void draw(Scene& scene, View& view, bool opening) override;

 private:
  void nameSteps();
  bool row(const View& view, std::size_t step, bool current) const;
  const std::shared_ptr<Document> document_;
  std::vector<std::string> names_;
  const void* named_ = nullptr;  ///< newest scene when names_ was made
};

}  // namespace headscope::app
