#include "fairlead/url/url_entry.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace fairlead::internal {
namespace {

// A size, seven bits a byte, the upper bit set on all but the last; one more than the text's, 0 for none.
char* PutSize(std::size_t size, char* at) {
  for (; size >= 0x80; size >>= 7) *at++ = static_cast<char>(size | 0x80);
  *at++ = static_cast<char>(size);
  return at;
}

std::size_t BytesOf(const std::optional<std::string_view>& text) {
  if (!text.has_value()) return 1;
  std::size_t bytes = 1;
  for (std::size_t size = text->size() + 1; size >= 0x80; size >>= 7) ++bytes;
  return bytes + text->size();
}

char* Put(const std::optional<std::string_view>& text, char* at) {
  at = PutSize(text.has_value() ? text->size() + 1 : 0, at);
  if (!text.has_value() || text->empty()) return at;
  std::memcpy(at, text->data(), text->size());
  return at + text->size();
}

}  // namespace

Counted<UrlOwn> UrlOwn::Create(const Texts& texts, std::int32_t port, Fingerprint print, Counted<UrlCommon> common) {
  const std::size_t bytes = BytesOf(texts.host) + BytesOf(texts.timestamp) + BytesOf(texts.pid);
  // The texts begin in what would be padding.
  static_assert(sizeof(UrlOwn) == 32);
  void* memory = ::operator new(std::max(sizeof(UrlOwn), sizeof(UrlOwn) - 4 + bytes));
  auto* own = new (memory) UrlOwn(port, print, std::move(common));
  char* at = static_cast<char*>(memory) + (own->texts() - static_cast<const char*>(memory));
  for (const auto* text : {&texts.host, &texts.timestamp, &texts.pid}) at = Put(*text, at);
  return Counted<UrlOwn>(own);
}

void UrlOwn::Delete(const UrlOwn* own) {
  own->~UrlOwn();
  ::operator delete(const_cast<UrlOwn*>(own));
}

UrlOwn::Text UrlOwn::Next(const char* at) {
  std::size_t size = 0;
  for (int shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(*at++);
    size |= static_cast<std::size_t>(byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  if (size == 0) return {std::nullopt, at};
  return {std::string_view(at, size - 1), at + size - 1};
}

}  // namespace fairlead::internal
