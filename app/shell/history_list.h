#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/scene/document.h"
#include "app/widgets/dialog.h"

namespace headscope::app {

/// All steps of the document, each by what it changed, the newest first. The arrows and a click go to one,
/// and the scene follows at once; Enter closes the list.
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
  const void* named_ = nullptr;  ///< the newest scene that has a name
};

}  // namespace headscope::app
