#ifndef FAIRLEAD_REGISTRY_FAILURE_LIST_H_
#define FAIRLEAD_REGISTRY_FAILURE_LIST_H_

#include <list>
#include <utility>

#include "absl/status/status.h"

namespace fairlead::internal {

// What is failing now: each thing that may fail has an Item here, whose failure lasts until it is mended or the thing
// is gone. All in constant time. Outlives its items.
class FailureList {
 public:
  class Item {
   public:
    explicit Item(FailureList& list) : list_(list) {}
    ~Item() { Mend(); }
    Item(const Item&) = delete;
    Item& operator=(const Item&) = delete;

    void Fail(absl::Status status) {
      Mend();
      at_ = list_.failing_.insert(list_.failing_.end(), std::move(status));
    }
    void Mend() {
      if (failing()) list_.failing_.erase(std::exchange(at_, list_.failing_.end()));
    }
    bool failing() const { return at_ != list_.failing_.end(); }

   private:
    FailureList& list_;
    std::list<absl::Status>::iterator at_ = list_.failing_.end();
  };

  FailureList() = default;
  FailureList(const FailureList&) = delete;
  FailureList& operator=(const FailureList&) = delete;

  // The failure that came last; OK when nothing is failing.
  absl::Status latest() const { return failing_.empty() ? absl::OkStatus() : failing_.back(); }

 private:
  std::list<absl::Status> failing_;
};

}  // namespace fairlead::internal

#endif  // FAIRLEAD_REGISTRY_FAILURE_LIST_H_
