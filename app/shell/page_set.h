#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <typeinfo>
#include <vector>

#include "app/pages/pages.h"

namespace headscope::app {

/// A window's pages, one per row of the table, in tab order.
class PageSet {
 public:
  explicit PageSet(std::span<const PageRow> rows) : rows_(rows) {}
  /// Call once, when the services are ready: pages may use them at once.
  void make(PageServices& services) {
    for (const PageRow& row : rows_) pages_.push_back(row.make(services));
  }

  std::span<const PageRow> rows() const { return rows_; }
  /// Returns the index of the page with that key; 0 if there is none.
  std::size_t at(const std::string& key) const {
    const auto row = std::ranges::find(rows_, key, [](const PageRow& each) { return each.info.key; });
    return row == rows_.end() ? 0 : static_cast<std::size_t>(row - rows_.begin());
  }
  Page& named(const std::string& key) const { return *pages_[at(key)]; }
  const PageInfo& info(const std::string& key) const { return rows_[at(key)].info; }
  /// Returns the page of that type. Throws std::bad_cast if there is none.
  template <typename P>
  P& of() const {
    for (const auto& page : pages_)
      if (auto* found = dynamic_cast<P*>(page.get())) return *found;
    throw std::bad_cast();
  }
  std::size_t gpuBytes() const {
    std::size_t bytes = 0;
    for (const auto& page : pages_) bytes += page->gpuBytes();
    return bytes;
  }
  auto begin() const { return pages_.begin(); }
  auto end() const { return pages_.end(); }

 private:
  std::span<const PageRow> rows_;
  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace headscope::app
