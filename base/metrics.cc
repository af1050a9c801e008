#include "fairlead/base/metrics.h"

#include <array>
#include <charconv>

#include "absl/strings/str_cat.h"

#include "fairlead/base/strings.h"

namespace fairlead {
namespace {

void AppendEscaped(std::string_view text, bool quoted, std::string* out) {
  for (const char c : text) {
    if (c == '\\') {
      *out += "\\\\";
    } else if (c == '\n') {
      *out += "\\n";
    } else if (c == '"' && quoted) {
      *out += "\\\"";
    } else {
      *out += c;
    }
  }
}

void AppendLabels(const MetricSample::Labels& labels, std::string* out) {
  if (labels.empty()) return;
  char before = '{';
  for (const auto& [name, value] : labels) {
    *out += before;
    *out += name;
    *out += "=\"";
    AppendEscaped(value, true, out);
    *out += '"';
    before = ',';
  }
  *out += '}';
}

// The shortest text that reads as the same number: a counter of ten digits keeps them all.
void AppendNumber(double value, std::string* out) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  out->append(text.data(), end);
}

}  // namespace

std::string PrometheusText(std::span<const MetricSample> samples) {
  std::string text;
  std::string_view family;
  for (const MetricSample& sample : samples) {
    if (sample.name != family) {
      family = sample.name;
      absl::StrAppend(&text, "# HELP ", ToAbsl(family), " ");
      AppendEscaped(sample.help, false, &text);
      absl::StrAppend(&text, "\n# TYPE ", ToAbsl(family),
                      sample.kind == MetricSample::Kind::kCounter ? " counter\n" : " gauge\n");
    }
    text += sample.name;
    AppendLabels(sample.labels, &text);
    text += ' ';
    AppendNumber(sample.value, &text);
    text += '\n';
  }
  return text;
}

}  // namespace fairlead
