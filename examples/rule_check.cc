// Looks at rules before anybody obeys them: what is wrong with them (lint), and which providers calls would lose or gain
// if they took the place of others (dry-run).
#include <cstdio>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "fairlead/directory/dry_run.h"
#include "fairlead/directory/rule_lint.h"
#include "fairlead/examples/args.h"
#include "fairlead/url/url_pool.h"

namespace {

constexpr std::string_view kUsage = R"(usage: rule_check lint [--strict] FILE...
       rule_check dry-run --consumer URL --providers FILE --before FILE --after FILE [--force]

A FILE of rules has one url a line (route://, override://, absent://), then documents, each under a line with its name:

  override://0.0.0.0/com.acme.Orders?weight=50
  == orders.tag-router
  tags: [{name: gray, addresses: [10.0.0.1]}]

A file that is called like a document (orders.tag-router) is that document. Blank lines and # between urls are skipped.
The FILE of providers has one url a line.

Exit code 0; 1 when lint finds an error (with --strict: or a warning), or a rule of --after cannot be used; 2 for wrong
arguments; 3 when calls would be left without any provider and --force is not given.
)";

// One url or document of a file, and the line where it begins.
struct Piece {
  fairlead::RuleText rule;
  int line = 1;
};

std::string ReadAll(const toy::Args& args, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) args.Fail("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::vector<Piece> ReadPieces(const toy::Args& args, const std::string& path) {
  const std::string text = ReadAll(args, path);
  const std::string name = path.substr(path.rfind('/') + 1);
  if (fairlead::KindOf({name, ""}) != fairlead::RuleTextKind::kGuess) return {{{name, text}, 1}};
  std::vector<Piece> pieces;
  bool in_document = false;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with("== ")) {
      pieces.push_back({{line.substr(3), ""}, number + 1});
      in_document = true;
    } else if (in_document) {
      pieces.back().rule.text += line + "\n";
    } else if (!line.empty() && line[0] != '#') {
      pieces.push_back({{"", line}, number});
    }
  }
  return pieces;
}

int Lint(toy::Args& args) {
  const fairlead::Severity bad = args.Flag("--strict") ? fairlead::Severity::kWarning : fairlead::Severity::kError;
  bool errors = false;
  do {
    const std::string path = args.Positional("FILE");
    const std::vector<Piece> pieces = ReadPieces(args, path);
    std::vector<fairlead::RuleText> rules;
    for (const Piece& piece : pieces) rules.push_back(piece.rule);
    for (fairlead::Finding finding : fairlead::LintRules(rules)) {
      errors |= finding.severity >= bad;
      finding.line += pieces[finding.rule].line - 1;
      std::printf("%s:%s\n", path.c_str(), finding.ToString().c_str());
    }
  } while (!args.empty());
  return errors ? 1 : 0;
}

fairlead::RuleSet ReadRules(const toy::Args& args, const std::string& path) {
  fairlead::RuleSet rules;
  for (Piece& piece : ReadPieces(args, path)) {
    if (!piece.rule.name.empty()) {
      rules.documents.insert_or_assign(piece.rule.name, std::move(piece.rule.text));
    } else {
      const bool overrides = piece.rule.text.starts_with("override") || piece.rule.text.starts_with("absent");
      (overrides ? rules.overrides : rules.rules).push_back(std::move(piece.rule.text));
    }
  }
  return rules;
}

int DryRun(toy::Args& args) {
  fairlead::UrlPool pool;
  fairlead::DryRunInput input;
  const auto parse = [&](const std::string& text) {
    absl::StatusOr<fairlead::Url> url = fairlead::Url::Parse(text, pool);
    if (!url.ok()) args.Fail(std::string(url.status().message()));
    return *std::move(url);
  };
  const auto needed = [&](std::string_view name) {
    const auto value = args.Option(name);
    if (!value) args.Fail("missing " + std::string(name));
    return *value;
  };
  const bool force = args.Flag("--force");
  input.listing.consumer = parse(needed("--consumer"));
  for (const Piece& piece : ReadPieces(args, needed("--providers"))) input.listing.providers.push_back({parse(piece.rule.text), true});
  input.before = ReadRules(args, needed("--before"));
  input.after = ReadRules(args, needed("--after"));
  args.Finish();
  const absl::StatusOr<fairlead::DryRunReport> report = fairlead::DryRun(input);
  if (!report.ok()) args.Fail(std::string(report.status().message()));
  std::fputs(report->ToString().c_str(), stdout);
  if (!report->broken.empty()) {
    std::printf("not done: %zu of the rules cannot be used\n", report->broken.size());
    return 1;
  }
  if (!report->loses_all() || force) return 0;
  std::printf("calls would be left without any provider: not done without --force\n");
  return 3;
}

}  // namespace

int main(int argc, char** argv) {
  toy::Args args(argc, argv, kUsage);
  const std::string what = args.Positional("lint or dry-run");
  if (what == "lint") return Lint(args);
  if (what == "dry-run") return DryRun(args);
  args.Fail("unknown: " + what);
}
