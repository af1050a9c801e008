#ifndef FAIRLEAD_EXAMPLES_ARGS_H_
#define FAIRLEAD_EXAMPLES_ARGS_H_

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace toy {

// A program's command line. Take what is known, then Finish: whatever is left is an error. Errors are said on
// standard error, with the usage, and end the program with exit code 2; `--help` prints the usage and ends it with 0.
class Args {
 public:
  Args(int argc, char** argv, std::string_view usage) : usage_(usage), left_(argv + 1, argv + argc) {
    if (!Flag("--help")) return;
    std::fwrite(usage_.data(), 1, usage_.size(), stdout);
    std::exit(0);
  }

  bool Flag(std::string_view name) {
    for (auto at = left_.begin(); at != left_.end(); ++at) {
      if (*at != name) continue;
      left_.erase(at);
      return true;
    }
    return false;
  }

  // `--name value` or `--name=value`; the first of several.
  std::optional<std::string> Option(std::string_view name) {
    for (auto at = left_.begin(); at != left_.end(); ++at) {
      if (*at == name) {
        if (at + 1 == left_.end()) Fail(std::string(name) + " needs a value");
        std::string value = at[1];
        left_.erase(at, at + 2);
        return value;
      }
      if (at->size() > name.size() && at->starts_with(name) && (*at)[name.size()] == '=') {
        std::string value = at->substr(name.size() + 1);
        left_.erase(at);
        return value;
      }
    }
    return std::nullopt;
  }
  std::string Option(std::string_view name, std::string_view fallback) {
    return Option(name).value_or(std::string(fallback));
  }
  std::optional<int> Number(std::string_view name, int least, int most) {
    const auto text = Option(name);
    if (!text) return std::nullopt;
    int number = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
    if (error != std::errc() || end != text->data() + text->size() || number < least || number > most) {
      Fail(std::string(name) + "=" + *text + ": expected a whole number from " + std::to_string(least) + " to " +
           std::to_string(most));
    }
    return number;
  }

  // Take options first: what then stands in front is the argument.
  std::string Positional(std::string_view name) {
    if (left_.empty() || left_.front().starts_with('-')) Fail("missing " + std::string(name));
    std::string value = left_.front();
    left_.erase(left_.begin());
    return value;
  }
  bool empty() const { return left_.empty(); }
  void Finish() {
    if (!left_.empty()) Fail("unknown argument: " + left_.front());
  }
  [[noreturn]] void Fail(const std::string& what) const {
    std::fprintf(stderr, "%s\n%.*s", what.c_str(), static_cast<int>(usage_.size()), usage_.data());
    std::exit(2);
  }

 private:
  const std::string_view usage_;
  std::vector<std::string> left_;
};

}  // namespace toy

#endif  // FAIRLEAD_EXAMPLES_ARGS_H_
