#ifndef FAIRLEAD_ROUTING_TAG_IP_ADDRESS_H_
#define FAIRLEAD_ROUTING_TAG_IP_ADDRESS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "fairlead/base/hash.h"

namespace fairlead {

// An IPv4 or IPv6 address. Plain value; nothing here allocates.
class IpAddress {
 public:
  // Reads a literal as Java's InetAddress does. A name is nullopt, it is never looked up; only `localhost`, and the empty
  // text as in Java, are 127.0.0.1. IPv4 may be short (`10.1` is 10.0.0.1); IPv6 may have brackets; a zone is dropped;
  // `::ffff:10.0.0.1` is IPv4.
  static std::optional<IpAddress> Parse(std::string_view text);

  bool v4() const { return v4_; }
  // 0.0.0.0, or in 127.0.0.0/8.
  bool AnyOrLoopbackV4() const;
  // IPv4: 4 parts of a byte; IPv6: 8 of two bytes.
  std::size_t parts() const { return v4_ ? 4 : 8; }
  std::uint16_t part(std::size_t i) const {
    return v4_ ? bytes_[12 + i] : static_cast<std::uint16_t>(bytes_[2 * i] << 8 | bytes_[2 * i + 1]);
  }

  // The least and the greatest address of its network. A length beyond the address is its whole, one below 0 is 0.
  IpAddress First(int prefix_length) const { return Masked(prefix_length, 0); }
  IpAddress Last(int prefix_length) const { return Masked(prefix_length, 0xff); }
  // Compares numbers, whatever their families, as Dubbo compares an address with a network.
  bool Between(const IpAddress& first, const IpAddress& last) const {
    return first.bytes_ <= bytes_ && bytes_ <= last.bytes_;
  }

  bool operator==(const IpAddress&) const = default;
  std::size_t Hash() const {
    return HashBytes({reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}) + (v4_ ? 1 : 0);
  }

 private:
  using Bytes = std::array<std::uint8_t, 16>;
  IpAddress(bool v4, const Bytes& bytes) : v4_(v4), bytes_(bytes) {}
  static std::optional<IpAddress> ParseV4(std::string_view text);
  static std::optional<IpAddress> ParseV6(std::string_view text);
  IpAddress Masked(int prefix_length, std::uint8_t rest) const;

  bool v4_;
  Bytes bytes_;  // IPv4: in the last four
};

}  // namespace fairlead

#endif  // FAIRLEAD_ROUTING_TAG_IP_ADDRESS_H_
