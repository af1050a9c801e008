#include "fairlead/routing/mesh/mesh_rule.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

namespace fairlead {

std::optional<double> NumberMatch::Parse(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

bool NumberMatch::Matches(double number) const {
  if (exact && !mod) return number == *exact;
  if (start || end) return (!start || number >= *start) && (!end || number < *end);
  return exact && std::fmod(number, *mod) == *exact;
}

bool MeshMatch::Argument::Matches(const fairlead::Argument& argument) const {
  if (!argument.given) return false;
  if (texts) {
    const std::optional<std::string_view> text = argument.null ? std::nullopt : std::optional(argument.text);
    return std::any_of(texts->begin(), texts->end(), [&](const StringMatch& one) { return one.Matches(text); });
  }
  if (argument.null) return false;
  if (numbers) {
    const std::optional<double> number = NumberMatch::Parse(argument.text);
    return number && std::any_of(numbers->begin(), numbers->end(), [&](const NumberMatch& one) { return one.Matches(*number); });
  }
  return flag && argument.text == (*flag ? "true" : "false");
}

Reads MeshMatch::reads() const {
  Reads reads = Reads::kConsumer;
  if (method) reads = reads | Reads::kMethod;
  if (argument_count || !arguments.empty()) reads = reads | Reads::kArguments;
  if (!attachments.empty()) reads = reads | Reads::kAttachments;
  return reads;
}

bool MeshMatch::MatchesConsumer(const Url& consumer) const {
  return possible && std::all_of(source_labels.begin(), source_labels.end(), [&](const auto& label) {
           return ParameterOf(consumer, label.first) == label.second;
         });
}

bool MeshMatch::MatchesCall(const RouteCall& call) const {
  if (method && !method->Matches(call.method)) return false;
  const auto& given = call.invocation.arguments;
  if (argument_count && static_cast<std::size_t>(*argument_count) != given.size()) return false;
  for (const Argument& argument : arguments) {
    const auto index = static_cast<std::size_t>(argument.index);
    if (index >= given.size() || !argument.Matches(given[index])) return false;
  }
  return std::all_of(attachments.begin(), attachments.end(), [&](const ParameterMatch& one) {
    const std::string_view* value = call.invocation.FindAttachment(one.key);
    return value != nullptr && one.value.Matches(*value);
  });
}

bool MeshRule::Subset::Has(const Provider& provider) const {
  return std::all_of(labels.begin(), labels.end(),
                     [&](const auto& label) { return ParameterOf(provider.original, label.first) == label.second; });
}

const MeshRule::Route* MeshRule::RouteOf(std::string_view interface) const {
  const auto is_for = [&](const Route& route) {
    return route.services.empty() || std::any_of(route.services.begin(), route.services.end(), [&](const StringMatch& one) {
             return one.Matches(interface);
           });
  };
  const auto found = std::find_if(routes.begin(), routes.end(), is_for);
  return found == routes.end() ? nullptr : &*found;
}

}  // namespace fairlead
