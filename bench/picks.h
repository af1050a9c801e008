#ifndef FAIRLEAD_BENCH_PICKS_H_
#define FAIRLEAD_BENCH_PICKS_H_

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "fairlead/bench/ab.h"
#include "fairlead/bench/bed.h"

// The candidates: picks through the public Directory.
namespace fairlead::bench {

struct Call {
  bool hash_key = false;        // another one at each pick
  std::size_t attachments = 0;  // at most 4
};

inline constexpr std::array<Attachment, 4> kAttachments = {
    {{"trace", "7f3a9c21"}, {"user", "1234567"}, {"zone", "a"}, {"dubbo.tag", "gray"}}};
inline constexpr std::array<Argument, 1> kArguments = {{{"42"}}};

inline Invocation InvocationOf(const Bed& bed, const Call& call) {
  Invocation invocation;
  invocation.method = bed.method();
  invocation.arguments = kArguments;
  invocation.attachments = std::span(kAttachments).first(call.attachments);
  if (call.hash_key) invocation.hash_key = 12345;
  return invocation;
}

inline std::shared_ptr<Bed> WarmBed(const BedShape& shape, const Call& call = {}) {
  auto bed = SharedBed(shape);
  bed->WarmUp(InvocationOf(*bed, call));
  return bed;
}

inline Body PickBody(std::shared_ptr<Bed> bed, Call call = {}) {
  if (call.hash_key) {
    return Repeat([bed, call](int thread) {
      return [&directory = bed->directory(), invocation = InvocationOf(*bed, call),
              random = Random(static_cast<std::uint64_t>(thread) + 1)]() mutable {
        invocation.hash_key = static_cast<std::uint32_t>(random.Next());
        Keep(directory.WithSelected(invocation, [](const Invoker& invoker) noexcept { Keep(&invoker); }));
      };
    });
  }
  return Repeat([bed, call](int) {
    return [&directory = bed->directory(), invocation = InvocationOf(*bed, call)] {
      Keep(directory.WithSelected(invocation, [](const Invoker& invoker) noexcept { Keep(&invoker); }));
    };
  });
}

inline Body LeaseBody(std::shared_ptr<Bed> bed, Call call = {}) {
  return Repeat([bed, call](int thread) {
    return [&directory = bed->directory(), invocation = InvocationOf(*bed, call),
            random = Random(static_cast<std::uint64_t>(thread) + 1), call]() mutable {
      if (call.hash_key) invocation.hash_key = static_cast<std::uint32_t>(random.Next());
      absl::StatusOr<Lease> lease = directory.Select(invocation);
      Keep(&lease->invoker());
      lease->End(absl::OkStatus());
    };
  });
}

}  // namespace fairlead::bench

#endif  // FAIRLEAD_BENCH_PICKS_H_
