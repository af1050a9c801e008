#include "fairlead/url/service_view.h"

#include <algorithm>
#include <array>

#include "fairlead/url/parameter_names.h"
#include "fairlead/url/service_key.h"

namespace fairlead {
namespace {

std::string_view MethodValue(const UrlParts& url, std::string_view method, std::string_view key) {
  const std::string* value = url.FindMethodParam(method, key);
  return value == nullptr ? std::string_view() : std::string_view(*value);
}

}  // namespace

UrlParts ConsumerHalf(const UrlParts& consumer) {
  UrlParts half = consumer;
  half.params.EraseIf([](std::string_view key, std::string_view) {
    return std::find(names::kProviderOnly.begin(), names::kProviderOnly.end(), key) != names::kProviderOnly.end();
  });
  return half;
}

std::string_view ServiceView::Param(std::string_view key, std::string_view fallback) const {
  if (overrides_ != nullptr) {
    if (const std::string_view value = overrides_->Param(key); !value.empty()) return value;
  }
  if (key == names::kGroup || key == names::kVersion || key == names::kApplication) {
    return provider_.Param(key, fallback);
  }
  if (key == names::kSide) return consumer_.Param(key, fallback);
  if (key == names::kCategory) return Category();
  return consumer_.Param(key, provider_.Param(key, fallback));
}

std::string_view ServiceView::MethodParam(std::string_view method, std::string_view key,
                                          std::string_view fallback) const {
  for (const UrlParts* layer : {overrides_, &consumer_, &provider_}) {
    if (layer == nullptr) continue;
    if (const std::string_view value = MethodValue(*layer, method, key); !value.empty()) return value;
  }
  return Param(key, fallback);
}

std::string ServiceView::JoinedParam(std::string_view key) const {
  const std::string_view theirs = provider_.Param(key), ours = consumer_.Param(key);
  std::string joined(theirs);
  if (!theirs.empty() && !ours.empty()) joined += ',';
  joined += ours;
  return joined;
}

std::string_view ServiceView::Application() const { return consumer_.Param(names::kApplication); }
std::string_view ServiceView::RemoteApplication() const { return provider_.Param(names::kApplication); }
std::string_view ServiceView::Side() const { return consumer_.Param(names::kSide); }

std::string ServiceView::ServiceKey() const {
  return BuildServiceKey(ServiceInterface(), provider_.Param(names::kGroup), provider_.Param(names::kVersion));
}

std::string_view ServiceView::Path() const {
  if (provider_.path.has_value() && !provider_.path->empty()) return *provider_.path;
  return consumer_.path.has_value() ? std::string_view(*consumer_.path) : std::string_view();
}

UrlParts ServiceView::Own() const {
  UrlParts own = provider_;
  own.path = Path();
  return own;
}

std::string ServiceView::ToString() const {
  UrlParts shown = Own();
  shown.params = consumer_.params;
  shown.params.Overlay(provider_.params);
  return shown.ToString();
}

}  // namespace fairlead
