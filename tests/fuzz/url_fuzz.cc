// Urls, decoded and percent-encoded, and the pool that interns them.
#include <memory>
#include <string>

#include "fairlead/tests/fuzz/fuzz.h"
#include "fairlead/url/match.h"
#include "fairlead/url/merge.h"
#include "fairlead/url/percent.h"
#include "fairlead/url/redact.h"
#include "fairlead/url/service_view.h"
#include "fairlead/url/url_address.h"
#include "fairlead/url/url_pool.h"
#include "fairlead/url/utf8.h"

namespace fairlead::fuzz {
namespace {

const UrlParts& Consumer() {
  static const UrlParts consumer =
      *UrlParts::Parse("consumer://10.0.0.9/s.A?interface=s.A&group=a,b&category=providers,-routers&find.k=1&timeout=5");
  return consumer;
}

void CheckPrinting(const UrlParts& url) {
  // What was read is printed as a text that means the same to whoever reads it next: once more changes nothing.
  // (Where `://` stands within a parameter, Dubbo takes what is before it for the protocol, depending on the rest.)
  const std::string printed = url.ToFullString();
  if (const std::size_t at = printed.find("://"); at != printed.npos) {
    if (at > printed.find('?') || printed.find("://", at + 3) != printed.npos) return;
  }
  const absl::StatusOr<UrlParts> again = UrlParts::Parse(printed);
  if (!again.ok()) return;
  const std::string once_more = again->ToFullString();
  const absl::StatusOr<UrlParts> third = UrlParts::Parse(once_more);
  FUZZ_EXPECT(third.ok() && third->ToFullString() == once_more, printed + "\n" + once_more + "\n" + (third.ok() ? third->ToFullString() : ""));
  // Encoded, as in a znode's name, it is the same url. (A parameter without `=`, which is not printed, is not: Dubbo cuts
  // two characters off its name there.)
  if (!IsUtf8(once_more)) return;
  const absl::StatusOr<UrlParts> decoded = UrlParts::ParseEncoded(PercentEncode(once_more));
  FUZZ_EXPECT(decoded.ok() && *decoded == *third, once_more + "\n" + (decoded.ok() ? decoded->ToFullString() : decoded.status().ToString()));
}

void CheckInterning(const UrlParts& parts) {
  UrlPool pool, other_pool;
  const Url url = Url::Of(parts, pool);
  FUZZ_EXPECT(url.parts() == parts, parts.ToFullString());
  FUZZ_EXPECT(Url::Of(parts, pool) == url, parts.ToFullString());
  const Url other = Url::Of(parts, other_pool);
  FUZZ_EXPECT(other == url && other.Hash() == url.Hash(), parts.ToFullString());
  FUZZ_EXPECT(url.Edited(parts, pool) == url, parts.ToFullString());
  UrlParts edited = parts;
  edited.params.insert_or_assign("weight", "7");
  const Url changed = url.Edited(edited, pool);
  FUZZ_EXPECT(changed.parts() == edited && changed == Url::Of(edited, pool), parts.ToFullString());
  FUZZ_EXPECT(AddressText(url).text() == url.Address(), parts.ToFullString());
  FUZZ_EXPECT(url.ServiceKey() == parts.ServiceKey() && url.ToFullString() == parts.ToFullString(), parts.ToFullString());
  for (const auto& [key, value] : parts.params) {
    FUZZ_EXPECT(url.Param(key, "-") == (value.empty() ? "-" : value), key);
  }
  (void)url.timestamp_ms();
  (void)url.category();
  (void)url.MethodParam("find", "timeout");
}

}  // namespace

void Try(std::string_view input) {
  const std::string text(input);
  const absl::StatusOr<UrlParts> readings[] = {UrlParts::Parse(text), UrlParts::ParseEncoded(text), UrlParts::ParseAny(text),
                                               UrlParts::ParseBody(text), ParseLenient(text), ParseAddress(text)};
  for (const absl::StatusOr<UrlParts>& url : readings) {
    if (!url.ok()) {
      FUZZ_EXPECT(absl::IsInvalidArgument(url.status()) && url.status().message().size() < 600, url.status().ToString());
      continue;
    }
    CheckPrinting(*url);
    CheckInterning(*url);
    const UrlParts merged = MergeConsumer(*url, Consumer().params);
    FUZZ_EXPECT(merged.Param("timeout") == "5", merged.ToString());
    (void)Matches(Consumer(), *url);
    (void)MatchesPushed(Consumer(), *url);
    FUZZ_EXPECT(ServiceView(*url, Consumer()).MethodParam("find", "k") == "1", url->ToString());
    (void)BackupAddresses(*url, 2181);
  }
  ParseAddresses(text).IgnoreError();
  FUZZ_EXPECT(Redacted(text).size() < 400, text);
  UrlParts::Params query = UrlParts::ParseQuery(text);
  UrlParts bare;
  bare.params = query;
  (void)bare.QueryString();
  UrlPool pool;
  const absl::StatusOr<Url> first = Url::Parse(text, pool), second = Url::Parse(text, pool);
  FUZZ_EXPECT(first.ok() == second.ok() && (!first.ok() || first->Is(*second)), text);
}

}  // namespace fairlead::fuzz
