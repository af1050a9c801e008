// A scripted registry whose answers take their time: sessions come and go while answers of older ones are still on
// their way, lists are reordered, repeated, wiped, and paths go and come back. Whatever was heard in between, the last
// answer of the last session counts, and no older one after it.
#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/base/random.h"
#include "fairlead/tests/registry/registry_fixture.h"
#include "fairlead/tests/support/effort.h"

namespace fairlead {
namespace {

using std::chrono::milliseconds;

constexpr Category kCategories[] = {Category::kProviders, Category::kRouters};
constexpr std::string_view kConsumer = "consumer://10.0.0.9/a.B?category=providers,routers&check=false";

class GenerationsProperty : public RegistryFixture, public ::testing::WithParamInterface<int> {
 protected:
  using Tree = std::map<Category, std::optional<std::set<std::string>>>;  // nullopt: the path is missing

  void Begin() {
    random_ = Random(Mix64(static_cast<std::uint64_t>(GetParam())));
    Open("fake://h:1?missing.grace=1000&resync.period=2000&retry.period=300");
    for (int i = 0; i < 3; ++i) {
      auto listener = std::make_shared<RecordingListener>();
      // Hosts throw now and then.
      listener->then = [this] {
        if (trouble_ && random_.Below(8) == 0) throw std::runtime_error("host bug");
      };
      registry_->Subscribe(U(kConsumer), listener, nullptr);
      listeners_.push_back(std::move(listener));
    }
    for (const Category category : kCategories) tree_[category].emplace();
    Run();
  }
  std::string RandomChild(Category category) {
    const std::string n = std::to_string(random_.Below(12));
    return category == Category::kProviders ? "dubbo://10.0.0." + n + ":1/a.B"
                                            : "condition://0.0.0.0/a.B?category=routers&priority=" + n + "&rule=x";
  }
  Category RandomCategory() { return kCategories[random_.Below(2)]; }

  // What the server says of a path at this moment: in any order, some children more than once.
  ChildrenAnswer AnswerFor(Category category) {
    ChildrenAnswer answer{generation_, {}, !tree_[category].has_value(), {}};
    if (answer.missing) return answer;
    answer.children.assign(tree_[category]->begin(), tree_[category]->end());
    for (std::size_t i = answer.children.size(); i > 1; --i) {
      std::swap(answer.children[i - 1], answer.children[random_.Below(i)]);
    }
    if (!answer.children.empty() && random_.Below(3) == 0) answer.children.push_back(answer.children.front());
    return answer;
  }
  void Send(Category category, ChildrenAnswer answer) {
    in_flight_[generation_].push_back([this, category, answer = std::move(answer)] {
      backend_->Push({"a.B", category}, answer);
    });
  }
  void SendAll() {
    for (const Category category : kCategories) Send(category, AnswerFor(category));
  }
  // Looks asked for by the periodic resync are answered in their turn, or never.
  void TakeUpReads() {
    while (backend_->Count(Operation::kRead) > 0) {
      const auto read = std::find_if(backend_->open.begin(), backend_->open.end(),
                                     [](const Operation& one) { return one.kind == Operation::kRead; });
      if (random_.Below(4) != 0) {
        auto once = std::make_shared<Children>(std::move(read->once));
        in_flight_[generation_].push_back([this, once, answer = AnswerFor(read->key.category)] {
          executor_->Post([once, answer] { (*once)(answer); });
        });
      }
      backend_->open.erase(read);
    }
  }
  // Delivers the oldest answer of some session on its way. True when it was of an ended one and a later had spoken.
  bool DeliverOne() {
    std::vector<std::uint64_t> sessions;
    for (const auto& [session, answers] : in_flight_) {
      if (!answers.empty()) sessions.push_back(session);
    }
    if (sessions.empty()) return false;
    const std::uint64_t session = sessions[random_.Below(sessions.size())];
    in_flight_[session].front()();
    in_flight_[session].pop_front();
    const bool late = session < heard_;
    heard_ = std::max(heard_, session);
    return late;
  }
  void NewSession() {
    backend_->Tell(Session::kExpired);
    if (random_.Below(2) == 0) {
      // The server was wiped, and its numbers start anew with it.
      for (auto& [category, children] : tree_) children.reset();
    }
    Run();
    Advance(milliseconds(random_.Below(500)));
    ++generation_;
    backend_->Tell(Session::kNew);
    Run();
    SendAll();
  }
  std::set<std::string> LastOf(const RecordingListener& listener, Category category) {
    std::set<std::string> urls;
    const auto last = std::find_if(listener.all.rbegin(), listener.all.rend(),
                                   [category](const Notification& one) { return one.category == category; });
    if (last == listener.all.rend()) return {"never told"};
    if (last->kind == ListKind::kUnknown) return {"unknown"};
    for (const Url& url : last->urls) urls.insert(url.ToFullString());
    return urls;
  }

  Random random_;
  bool trouble_ = true;
  Tree tree_;
  std::uint64_t generation_ = 1;
  std::uint64_t heard_ = 0;  // the latest session of which an answer was delivered
  std::map<std::uint64_t, std::deque<std::function<void()>>> in_flight_;  // by session
  std::vector<std::shared_ptr<RecordingListener>> listeners_;
};

TEST_P(GenerationsProperty, TheLastAnswerOfTheLastSessionCounts) {
  Begin();
  SendAll();
  for (int step = 0; step < 400; ++step) {
    const Category category = RandomCategory();
    std::optional<std::set<std::string>>& children = tree_[category];
    switch (random_.Below(12)) {
      case 0:
      case 1:
        if (!children) children.emplace();  // a parent that was gone is there again
        children->insert(RandomChild(category));
        break;
      case 2:
        if (children && !children->empty()) children->erase(children->begin());
        break;
      case 3:
        if (random_.Below(3) == 0) children.reset();
        break;
      case 4:
      case 5:
        Send(category, AnswerFor(category));
        break;
      case 6:
        Send(category, {generation_, absl::UnavailableError("broken"), false, {}});
        break;
      case 7:
        // The same answer twice.
        Send(category, AnswerFor(category));
        in_flight_[generation_].push_back(in_flight_[generation_].back());
        break;
      case 8:
        backend_->Tell(Session::kSuspended);
        Run();
        Advance(milliseconds(random_.Below(300)));
        backend_->Tell(Session::kReconnected);
        break;
      case 9:
        if (random_.Below(5) == 0) NewSession();
        break;
      default: {
        Run();
        std::vector<std::size_t> told;
        for (const auto& listener : listeners_) told.push_back(listener->lines.size());
        const bool late = DeliverOne();
        Run();
        for (std::size_t i = 0; late && i < listeners_.size(); ++i) {
          EXPECT_EQ(listeners_[i]->lines.size(), told[i]) << "an answer of an ended session was told after a later one's";
        }
      }
    }
    TakeUpReads();
    if (random_.Below(2) == 0) Run();
    if (random_.Below(5) == 0) Advance(milliseconds(random_.Below(200)));
  }

  // The registry comes to rest and says so; what else is on its way arrives before, between and after.
  trouble_ = false;
  SendAll();
  while (std::any_of(in_flight_.begin(), in_flight_.end(), [](const auto& one) { return !one.second.empty(); })) {
    DeliverOne();
    if (random_.Below(2) == 0) Run();
    TakeUpReads();
  }
  Run();
  for (int second = 0; second < 200; ++second) {
    Advance(std::chrono::seconds(1));
    TakeUpReads();
    while (!in_flight_[generation_].empty()) DeliverOne();
    Run();
  }
  for (const auto& listener : listeners_) {
    for (const Category category : kCategories) {
      EXPECT_EQ(LastOf(*listener, category), tree_[category].value_or(std::set<std::string>()))
          << CategoryName(category);
    }
  }
  const RegistryStatus status = registry_->status();
  EXPECT_EQ(status.state, RegistryState::kConnected);
  EXPECT_EQ(status.stale_for.count(), 0);
  EXPECT_EQ(status.retries_pending, 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, GenerationsProperty, ::testing::Range(1, 1 + Effort(400)));

}  // namespace
}  // namespace fairlead
