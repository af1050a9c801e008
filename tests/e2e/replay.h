#ifndef FAIRLEAD_TESTS_E2E_REPLAY_H_
#define FAIRLEAD_TESTS_E2E_REPLAY_H_

#include <string>
#include <vector>

#include "fairlead/tests/conformance/runner.h"

namespace fairlead::e2e {

struct ListResult {
  std::size_t step = 0;
  conformance::Json got;
  std::vector<conformance::Json> draws;  // of a step whose answer is a draw: many, `got` among them
};

// Replays a scenario of the traces on a server, in a tree of its own below `/<tree>`, and answers what each `list` step
// found. Throws std::exception when it cannot be replayed. Several may run at a time with different trees.
//
// Settled is when a document that is changed last was seen by a consumer on the same session, three times: a session
// tells changes in their order, and what a told change makes a directory ask for (the documents of a new application) is
// asked for before the next document is seen.
std::vector<ListResult> Replay(const std::string& server, const std::string& tree, const conformance::Json& scenario);

}  // namespace fairlead::e2e

#endif  // FAIRLEAD_TESTS_E2E_REPLAY_H_
