#ifndef FAIRLEAD_RPC_INVOCATION_H_
#define FAIRLEAD_RPC_INVOCATION_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "fairlead/base/strings.h"

namespace fairlead {

// A method's number within one Directory (Directory::Method); kAny = no rule or policy names it.
enum class MethodId : std::uint16_t { kAny = 0 };

struct Attachment {
  std::string_view key, value;
};

// One positional argument as rules and hashing see it. `null`: the caller passed null (compared as the text
// "null"). `given` = false: the argument exists but its text was not supplied.
struct Argument {
  std::string_view text;
  bool null = false;
  bool given = true;
};

// What a pick may read of a call. Views into the caller's memory, which must live until the pick returns.
// A generic call is described unwrapped: its real method and its real arguments.
struct Invocation {
  MethodId method = MethodId::kAny;
  std::span<const Argument> arguments = {};  // the full count, in order
  std::span<const Attachment> attachments = {};
  std::optional<std::uint32_t> hash_key = {};  // ring position for every hash policy, in place of arguments

  // nullptr when absent; the last of equal keys wins. Linear in the attachments.
  const std::string_view* FindAttachment(std::string_view key) const {
    for (std::size_t i = attachments.size(); i-- > 0;) {
      if (SameText(attachments[i].key, key)) return &attachments[i].value;
    }
    return nullptr;
  }
};

}  // namespace fairlead

#endif  // FAIRLEAD_RPC_INVOCATION_H_
