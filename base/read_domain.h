#ifndef FAIRLEAD_BASE_READ_DOMAIN_H_
#define FAIRLEAD_BASE_READ_DOMAIN_H_

#include <cstdint>
#include <memory>

#include "absl/functional/any_invocable.h"

namespace fairlead {

// Safe reclamation for snapshots that readers reach through one atomic pointer: an epoch domain.
//
// A reader holds a ReadSection while it looks at an object; a writer unlinks the object (so that no new
// reader finds it) and hands it to Retire. Poll runs the deleters of objects that no section can still see.
// Readers never wait, never allocate (after a thread's first section) and write only their own cache line.
class ReadDomain {
 public:
  // The one domain of the process: thread slots are per process.
  static ReadDomain& Global();

  ReadDomain(const ReadDomain&) = delete;
  ReadDomain& operator=(const ReadDomain&) = delete;

  // Calls `free` once no section that could have seen the unlinked object is open; the call comes out of a
  // later Poll (of any thread that polls), or out of Retire itself. Thread-safe; may allocate and make a
  // system call. The caller must have unlinked the object with a store that happened before.
  void Retire(absl::AnyInvocable<void()> free);
  // Frees what can be freed now. Returns how many objects still wait; the caller polls again later if any.
  std::size_t Poll();
  // How long the oldest open section that holds something back has been seen open, in epochs; 0 = none.
  std::uint64_t OldestReaderLag() const;

 private:
  friend class ReadSection;
  ReadDomain();
  ~ReadDomain();

  struct Impl;
  Impl* impl_;
};

// Between construction and destruction, nothing that was reachable can be freed. Lives on a stack that does
// not suspend; sections nest; ends on the thread that began it (checked in debug builds).
class ReadSection {
 public:
  ReadSection();
  ~ReadSection();
  ReadSection(const ReadSection&) = delete;
  ReadSection& operator=(const ReadSection&) = delete;

 private:
  struct Slot;
  Slot* slot_;
};

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_READ_DOMAIN_H_
