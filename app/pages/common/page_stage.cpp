#include "app/pages/common/page_stage.h"

#include <utility>

namespace headscope::app {

void PageStage::put(Scene written, std::shared_ptr<Document> left) {
  written_ = std::move(written);
  document_ = left ? std::move(left) : std::make_shared<Document>(written_);
}

void PageStage::restore() {
  if (!document_) return;
  document_->record();
  document_->scene() = written_;
  document_->record();
}

std::shared_ptr<Document> PageStage::take() {
  std::shared_ptr<Document> left = std::exchange(document_, nullptr);
  if (!left) return nullptr;
  left->record();
  return left->canUndo() || left->canRedo() ? left : nullptr;
}

}  // namespace headscope::app
