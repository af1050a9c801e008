#include "fairlead/tests/chaos/zk_wire.h"

#include <algorithm>
#include <cstddef>

namespace fairlead::chaos {
namespace {

constexpr std::int64_t kGetChildren = 8, kGetChildren2 = 12;

std::int64_t Number(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return size == 4 ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value);
}

// Length, then as many bytes. Empty while they are not all there.
std::string_view FirstFrame(std::string_view bytes) {
  if (bytes.size() < 4) return {};
  const auto size = static_cast<std::size_t>(std::max<std::int64_t>(Number(bytes, 0, 4), 0));
  return bytes.size() < 4 + size ? std::string_view() : bytes.substr(4, size);
}

}  // namespace

void ZkWire::Saw(std::uint64_t connection, FaultProxy::Way way, std::string_view bytes) {
  const std::lock_guard lock(mutex_);
  if (way == FaultProxy::Way::kToClient) {
    // Lists of megabytes follow; only the first frame matters.
    const auto [at, fresh] = to_client_.try_emplace(connection);
    if (!fresh && at->second.empty()) return;
    at->second += bytes;
    if (const std::string_view frame = FirstFrame(at->second); !frame.empty()) {
      Granted(frame);
      at->second.clear();
    }
    return;
  }
  Stream& stream = to_server_[connection];
  stream.begun += bytes;
  std::size_t used = 0;
  for (;;) {
    const std::string_view frame = FirstFrame(std::string_view(stream.begun).substr(used));
    if (frame.empty()) break;
    if (stream.frames++ > 0) Asked(frame);  // the first one asks for the session
    used += 4 + frame.size();
  }
  stream.begun.erase(0, used);
}

void ZkWire::Granted(std::string_view frame) {
  // protocol version 4, timeout 4, session 8, length of the password 4, password 16
  if (frame.size() < 36 || Number(frame, 4, 4) <= 0) return;
  ZkClientId id;
  id.session = Number(frame, 8, 8);
  std::copy_n(frame.begin() + 20, id.password.size(), id.password.begin());
  session_ = id;
}

void ZkWire::Asked(std::string_view frame) {
  // transaction 4, kind 4, length of the path 4, path, watch 1
  if (frame.size() < 12) return;
  const std::int64_t kind = Number(frame, 4, 4);
  if (kind != kGetChildren && kind != kGetChildren2) return;
  const auto size = static_cast<std::size_t>(std::max<std::int64_t>(Number(frame, 8, 4), 0));
  ++list_reads_[std::string(frame.substr(12, size))];
}

std::optional<ZkClientId> ZkWire::session() const {
  const std::lock_guard lock(mutex_);
  return session_;
}

std::uint64_t ZkWire::list_reads(std::string_view path_end) const {
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = 0;
  for (const auto& [path, count] : list_reads_) {
    if (path.ends_with(path_end)) sum += count;
  }
  return sum;
}

}  // namespace fairlead::chaos
