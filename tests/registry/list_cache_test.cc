#include "fairlead/registry/list_cache.h"

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fairlead/tests/registry/registry_fixture.h"
#include "fairlead/tests/support/temp_directory.h"

// FailbackRegistry and its file, in virtual time; the disk is touched by tasks of the same executor.
namespace fairlead {
namespace {

using std::chrono::milliseconds;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kService = "a.B";
constexpr const char* kConsumer = "consumer://10.0.0.9/a.B?interface=a.B&category=providers,configurators,routers";
constexpr const char* kFirst = "dubbo://10.0.0.1:1/a.B?interface=a.B&timestamp=5";
constexpr const char* kSecond = "dubbo://10.0.0.2:1/a.B?interface=a.B";

class ListCacheTest : public RegistryFixture {
 protected:
  std::string Registry(const std::string& more = "") { return "fake://h:1?file=" + name_ + more; }
  std::shared_ptr<RecordingListener> Subscribe(std::string_view consumer = kConsumer) {
    auto listener = std::make_shared<RecordingListener>();
    done_.reset();
    registry_->Subscribe(U(consumer), listener, [this](absl::Status status) { done_ = std::move(status); });
    Run();
    return listener;
  }
  void PushAll(std::vector<std::string> providers) {
    Push(kService, Category::kProviders, std::move(providers));
    Push(kService, Category::kConfigurators, {});
    Push(kService, Category::kRouters, {});
  }
  // A life in which the registry said this, and its end.
  void Live(std::vector<std::string> providers, std::string_view consumer = kConsumer) {
    Open(Registry());
    Subscribe(consumer);
    PushAll(std::move(providers));
    Close();
  }
  // A life that begins with a registry that does not answer.
  FailbackRegistry& Dead(const std::string& more = "") { return Open(Registry(more), /*connect=*/false); }

  TempDirectory dir_;
  const std::string name_ = dir_ / "lists.cache";
  std::optional<absl::Status> done_;
};

TEST_F(ListCacheTest, WritesLateAndABurstOnce) {
  Open(Registry());
  Subscribe();
  PushAll({kFirst});
  Advance(milliseconds(499));
  EXPECT_EQ(FileText(name_), "");
  Push(kService, Category::kProviders, {kFirst, kSecond});
  Advance(milliseconds(1));
  const std::string text = FileText(name_);
  EXPECT_THAT(text, HasSubstr("a.B=dubbo\\://10.0.0.1\\:1/a.B?interface\\=a.B&timestamp\\=5 dubbo\\://10.0.0.2"));
  EXPECT_THAT(text, HasSubstr("empty\\://10.0.0.9/a.B?category\\=routers"));
  EXPECT_THAT(text, HasSubstr("#Mon Jan 01 00:00:00 UTC 2024\n")) << "the injected clock's";
  EXPECT_EQ(registry_->status().cache_file, name_);

  Push(kService, Category::kProviders, {kSecond});
  Advance(milliseconds(499));
  EXPECT_EQ(FileText(name_), text);
  Advance(milliseconds(1));
  EXPECT_THAT(FileText(name_), Not(HasSubstr("10.0.0.1")));
}

TEST_F(ListCacheTest, SaveFileWritesWithoutWaiting) {
  Open(Registry("&save.file=true"));
  Subscribe();
  PushAll({kFirst});
  EXPECT_THAT(FileText(name_), HasSubstr("10.0.0.1"));
}

TEST_F(ListCacheTest, TheEndWritesWhatIsNotWrittenYet) {
  Live({kFirst});
  EXPECT_THAT(FileText(name_), HasSubstr("10.0.0.1"));
}

TEST_F(ListCacheTest, IsSwitchedOff) {
  for (const char* off : {"&file-cache=false", "&file.cache=false"}) {
    Open(Registry(off));
    Subscribe();
    PushAll({kFirst});
    Advance(milliseconds(5000));
    Close();
    EXPECT_TRUE(std::filesystem::is_empty(dir_.path()));
  }
}

TEST_F(ListCacheTest, ServesAfterFileWaitAndSaysSo) {
  Live({kFirst, kSecond});
  Dead();
  const auto listener = Subscribe();
  Advance(milliseconds(1999));
  EXPECT_THAT(listener->lines, IsEmpty());
  EXPECT_FALSE(done_.has_value());
  Advance(milliseconds(1));
  EXPECT_THAT(listener->Take(), ElementsAre("a.B/providers list 10.0.0.1:1 10.0.0.2:1", "a.B/configurators empty", "a.B/routers empty"));
  for (const Notification& told : listener->all) EXPECT_TRUE(told.cached);
  ASSERT_TRUE(done_.has_value());
  EXPECT_TRUE(done_->ok()) << "check=true is content";
  EXPECT_EQ(listener->all[0].urls[0].timestamp_ms(), 5) << "the base of warm-up";
  EXPECT_EQ(registry_->status().cached, 1u);
  EXPECT_THAT(registry_->Describe(), HasSubstr("1 served from " + name_));
  EXPECT_EQ(log_.Count("FL-1-10"), 1u);
}

TEST_F(ListCacheTest, TheRegistrysAnswerReplacesIt) {
  Live({kFirst, kSecond});
  Dead();
  const auto listener = Subscribe();
  Advance(milliseconds(2000));
  const std::vector<Notification> cached = std::exchange(listener->all, {});
  ASSERT_EQ(cached.size(), 3u);
  backend_->Tell(Session::kConnected);
  // The same providers, as another product would write them.
  PushAll({"dubbo://10.0.0.2:1/a.B?interface=a.B", "dubbo%3A%2F%2F10.0.0.1%3A1%2Fa.B%3Ftimestamp%3D5%26interface%3Da.B"});
  ASSERT_EQ(listener->all.size(), 3u) << "told again, though nothing changed: it is no longer cached";
  for (const Notification& told : listener->all) EXPECT_FALSE(told.cached);
  EXPECT_EQ(listener->all[0].urls[0], cached[0].urls[1]);
  EXPECT_EQ(listener->all[0].urls[1], cached[0].urls[0]);
  EXPECT_EQ(registry_->status().cached, 0u);
  PushAll({kFirst, kSecond});
  EXPECT_EQ(listener->all.size(), 4u) << "other texts, then nothing new";
}

TEST_F(ListCacheTest, ALiveRegistryIsNotForestalled) {
  Live({kFirst});
  Open(Registry());
  const auto listener = Subscribe();
  PushAll({kSecond});
  Advance(milliseconds(5000));
  EXPECT_THAT(listener->lines, ElementsAre("a.B/providers list 10.0.0.2:1", "a.B/configurators empty", "a.B/routers empty"));
  EXPECT_EQ(log_.Count("FL-1-10"), 0u);
}

TEST_F(ListCacheTest, AFirstReadThatFailsIsAnsweredFromItAtOnce) {
  Live({kFirst});
  Open(Registry());
  const auto listener = Subscribe();
  PushError(kService, Category::kProviders);
  EXPECT_THAT(listener->lines, ElementsAre("a.B/providers list 10.0.0.1:1"));
  EXPECT_FALSE(done_.has_value()) << "the rules are still to come";
  Push(kService, Category::kConfigurators, {});
  Push(kService, Category::kRouters, {});
  EXPECT_TRUE(done_.has_value());
  PushError(kService, Category::kProviders);
  EXPECT_EQ(listener->lines.size(), 3u);
}

TEST_F(ListCacheTest, ADeadlineBeforeFileWaitUsesIt) {
  Live({kFirst});
  Dead("&timeout=300");
  const auto listener = Subscribe();
  Advance(milliseconds(300));
  ASSERT_TRUE(done_.has_value());
  EXPECT_TRUE(done_->ok()) << *done_;
  EXPECT_EQ(listener->lines.size(), 3u);
}

TEST_F(ListCacheTest, ARegistryThatRefusesIsAnsweredForAtOnce) {
  Live({kFirst});
  Dead();
  backend_->Refuse(absl::UnauthenticatedError("no such password"));
  const auto listener = Subscribe();
  ASSERT_TRUE(done_.has_value());
  EXPECT_TRUE(done_->ok()) << *done_;
  EXPECT_EQ(listener->lines.size(), 3u);
  const auto other = Subscribe("consumer://10.0.0.9/c.D");
  EXPECT_EQ(done_->code(), absl::StatusCode::kUnauthenticated) << "of which it knows nothing";
  EXPECT_THAT(std::string(done_->message()), HasSubstr("refuses: no such password"));
  const auto again = Subscribe();
  EXPECT_TRUE(done_->ok()) << "lists that are there already";
}

TEST_F(ListCacheTest, WithoutTheServiceInItCheckFailsAsEver) {
  Live({kFirst});
  Dead();
  const auto listener = Subscribe("consumer://10.0.0.9/c.D");
  Advance(milliseconds(5000));
  EXPECT_EQ(done_->code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(listener->lines, IsEmpty());
}

TEST_F(ListCacheTest, CategoriesThatItDoesNotKnowAreUnknown) {
  PutFile(name_, "a.B=dubbo\\://10.0.0.1\\:1/a.B?interface\\=a.B dubbo\\://10.0.0.2\\:1/a.B?interface\\=a.B&version\\=9\n");
  Dead();
  const auto listener = Subscribe();
  Advance(milliseconds(2000));
  EXPECT_THAT(listener->lines, ElementsAre("a.B/providers list 10.0.0.1:1", "a.B/configurators unknown", "a.B/routers unknown"));
}

TEST_F(ListCacheTest, AMissingPathIsNotTakenForEmptyAtOnce) {
  Live({kFirst});
  Dead();
  const auto listener = Subscribe();
  Advance(milliseconds(2000));
  listener->Take();
  backend_->Tell(Session::kConnected);
  PushMissing(kService, Category::kProviders);
  EXPECT_THAT(listener->lines, IsEmpty()) << "the registry was wiped, or is not filled yet";
  Advance(milliseconds(29999));
  EXPECT_THAT(listener->lines, IsEmpty());
  Advance(milliseconds(1));
  EXPECT_THAT(listener->lines, ElementsAre("a.B/providers empty"));
}

TEST_F(ListCacheTest, APathThatIsMissingAtTheFirstAnswerIsUnknownWhenItHadChildren) {
  Live({kFirst});
  for (const bool loaded : {true, false}) {
    backend_ = std::make_shared<FakeBackend::State>(executor_);
    registry_ = FailbackRegistry::Create(U(Registry()), std::make_unique<FakeBackend>(backend_), Context());
    if (loaded) Run();
    backend_->Tell(Session::kConnected);
    const auto listener = std::make_shared<RecordingListener>();
    done_.reset();
    registry_->Subscribe(U(kConsumer), listener, [this](absl::Status status) { done_ = std::move(status); });
    for (const Category category : {Category::kProviders, Category::kConfigurators, Category::kRouters}) {
      backend_->Push({kService, category}, {1, {}, true, {}});
    }
    Run();
    EXPECT_THAT(listener->Take(), Contains("a.B/providers list 10.0.0.1:1")) << loaded;
    EXPECT_TRUE(done_ && done_->ok());
    EXPECT_GT(log_.Count("FL-1-10"), 0u);
    EXPECT_EQ(registry_->status().cached, 1u);
    PushMissing(kService, Category::kProviders);
    Advance(milliseconds(29999));
    EXPECT_THAT(listener->lines, Not(Contains("a.B/providers empty")));
    Advance(milliseconds(1));
    EXPECT_THAT(listener->lines, Contains("a.B/providers empty"));
    EXPECT_EQ(registry_->status().stale_for.count(), 0);
    Close();
    EXPECT_THAT(FileText(name_), HasSubstr("10.0.0.1"));
  }
}

TEST_F(ListCacheTest, APathThatIsMissingAtTheFirstAnswerIsEmptyWhenItHadNoChildren) {
  for (const char* service : {"a.B", "a.X"}) {
    Live({});
    backend_ = std::make_shared<FakeBackend::State>(executor_);
    registry_ = FailbackRegistry::Create(U(Registry()), std::make_unique<FakeBackend>(backend_), Context());
    backend_->Tell(Session::kConnected);
    const auto listener = std::make_shared<RecordingListener>();
    registry_->Subscribe(U(std::string("consumer://10.0.0.9/") + service), listener, nullptr);
    backend_->Push({service, Category::kProviders}, {1, {}, true, {}});
    Run();
    EXPECT_THAT(listener->lines, Contains(std::string(service) + "/providers empty"));
    EXPECT_EQ(log_.Count("FL-1-10"), 0u) << service;
    Close();
  }
}

TEST_F(ListCacheTest, ProvidersThatGoStayInItWhileTheyAreProtected) {
  const auto rest = [&](const std::string& registry, const std::string& consumer) {
    Open(Registry(registry));
    Subscribe(kConsumer + consumer);
    PushAll({kFirst, kSecond});
    Advance(milliseconds(500));
    Push(kService, Category::kProviders, {kFirst});
    Advance(milliseconds(500));
    PushAll({});
    Advance(milliseconds(500));
    const std::string text = FileText(name_);
    Close();
    EXPECT_EQ(FileText(name_).find("10.0.0.1") == std::string::npos, text.find("10.0.0.1") == std::string::npos);
    return text;
  };
  for (const auto& [registry, consumer] : std::vector<std::pair<std::string, std::string>>{
           {"", ""}, {"&enable-empty-protection=false", "&enable-empty-protection=true"}}) {
    const std::string text = rest(registry, consumer);
    EXPECT_THAT(text, HasSubstr("10.0.0.1")) << registry;
    EXPECT_THAT(text, Not(HasSubstr("10.0.0.2"))) << "the last list, not all that ever were";
    EXPECT_THAT(text, Not(HasSubstr("category\\=providers")));
  }
  for (const auto& [registry, consumer] : std::vector<std::pair<std::string, std::string>>{
           {"&enable-empty-protection=false", ""}, {"&protect-max-age=0", ""}, {"", "&enable-empty-protection=false"}}) {
    EXPECT_THAT(rest(registry, consumer), Not(HasSubstr("10.0.0.1"))) << registry << consumer;
  }
}

TEST_F(ListCacheTest, ProvidersOfAFormerLifeStayWhenTheRegistrysFirstWordIsNone) {
  Live({kFirst});
  // The registry says it before the file is read.
  backend_ = std::make_shared<FakeBackend::State>(executor_);
  registry_ = FailbackRegistry::Create(U(Registry()), std::make_unique<FakeBackend>(backend_), Context());
  backend_->Tell(Session::kConnected);
  const auto first = std::make_shared<RecordingListener>();
  registry_->Subscribe(U(kConsumer), first, nullptr);
  for (const Category category : {Category::kProviders, Category::kConfigurators, Category::kRouters}) {
    backend_->Push({kService, category}, {1, {}, false, {}});
  }
  Advance(milliseconds(500));
  EXPECT_THAT(first->lines, Contains("a.B/providers empty"));
  Close();
  EXPECT_THAT(FileText(name_), HasSubstr("10.0.0.1"));
  // After it is read.
  Live({});
  EXPECT_THAT(FileText(name_), HasSubstr("10.0.0.1"));
  // From the file, then none.
  Dead();
  Subscribe();
  Advance(milliseconds(2000));
  backend_->Tell(Session::kConnected);
  PushAll({});
  Close();
  EXPECT_THAT(FileText(name_), HasSubstr("10.0.0.1"));
  Live({kSecond});
  EXPECT_THAT(FileText(name_), Not(HasSubstr("10.0.0.1")));
}

TEST_F(ListCacheTest, ProvidersThatAreKeptOutliveTheSubscriptionThatHadThem) {
  Open(Registry());
  const auto a = Subscribe();
  PushAll({kFirst});
  PushAll({});
  Subscribe(std::string(kConsumer) + "&timestamp=7");
  registry_->Unsubscribe(U(kConsumer), a);
  Close();
  EXPECT_THAT(FileText(name_), HasSubstr("10.0.0.1"));
}

TEST_F(ListCacheTest, ALateListenerHearsTheSame) {
  Live({kFirst});
  Dead();
  const auto first = Subscribe();
  Advance(milliseconds(2000));
  const auto second = Subscribe();
  EXPECT_EQ(second->lines, first->lines);
  EXPECT_TRUE(done_.has_value());
}

TEST_F(ListCacheTest, GroupStarHasItsListsToo) {
  const std::string consumer = std::string(kConsumer) + "&group=*";
  Live({"dubbo://10.0.0.1:1/a.B?interface=a.B&group=x", "dubbo://10.0.0.2:1/a.B?interface=a.B&group=y"}, consumer);
  Dead();
  const auto listener = Subscribe(consumer);
  Advance(milliseconds(2000));
  EXPECT_EQ(listener->lines.at(0), "a.B/providers list 10.0.0.1:1 10.0.0.2:1");
}

TEST_F(ListCacheTest, ServicesOfFormerLivesStay) {
  Live({kFirst});
  Open(Registry());
  Subscribe("consumer://10.0.0.9/c.D");
  Push("c.D", Category::kProviders, {"dubbo://10.0.0.3:1/c.D"});
  Advance(milliseconds(500));
  EXPECT_THAT(FileText(name_), HasSubstr("a.B=dubbo"));
  EXPECT_THAT(FileText(name_), HasSubstr("c.D=dubbo"));
  // One of the categories of another subscription is news; the others stay as they were.
  Subscribe("consumer://10.0.0.9/a.B");
  Push(kService, Category::kProviders, {kSecond});
  Advance(milliseconds(500));
  EXPECT_THAT(FileText(name_), HasSubstr("a.B=dubbo\\://10.0.0.2\\:1/a.B?interface\\=a.B empty\\://10.0.0.9/a.B?category\\=configurators"));
}

TEST_F(ListCacheTest, AnEndedSubscriptionLeavesItsListsUnlessOthersHaveThem) {
  Open(Registry());
  const std::string other = "consumer://10.0.0.9/a.B?classifier=x";
  const auto a = Subscribe(), b = Subscribe(other);
  PushAll({kFirst});
  for (int i = 0; i < 100; ++i) {
    const std::string consumer = "consumer://10.0.0.9/a.B?n=" + std::to_string(i);
    const auto c = Subscribe(consumer);
    registry_->Unsubscribe(U(consumer), c);
  }
  registry_->Unsubscribe(U(kConsumer), a);
  registry_->Unsubscribe(U(other), b);
  Close();
  Dead();
  const auto listener = Subscribe();
  Advance(milliseconds(2000));
  EXPECT_EQ(listener->lines.at(0), "a.B/providers list 10.0.0.1:1");
}

TEST_F(ListCacheTest, NoPasswordIsWritten) {
  Live({"dubbo://me:secret@10.0.0.1:1/a.B?interface=a.B&password=secret"}, std::string(kConsumer) + "&password=secret");
  EXPECT_THAT(FileText(name_), HasSubstr("me@10.0.0.1"));
  EXPECT_THAT(FileText(name_), Not(HasSubstr("secret")));
}

TEST_F(ListCacheTest, ADamagedFileIsReportedAndReplaced) {
  PutFile(name_, "a.B=dubbo\\://10.0.0.1\\:1/a.B");
  Dead();
  const auto listener = Subscribe();
  Advance(milliseconds(4000));
  EXPECT_THAT(listener->lines, IsEmpty());
  ASSERT_EQ(recorder_.count("FL-1-8"), 1u);
  for (const LogRecorder::Line& line : recorder_.lines()) {
    if (line.code != "FL-1-8") continue;
    EXPECT_THAT(line.subject, ::testing::StartsWith("fake://h:1 ")) << "not the text once more";
  }
  backend_->Tell(Session::kConnected);
  PushAll({kSecond});
  Advance(milliseconds(500));
  EXPECT_THAT(FileText(name_), HasSubstr("10.0.0.2"));
}

TEST_F(ListCacheTest, UnreadableEntriesAreSkippedAndReported) {
  PutFile(name_, "a.B=nonsense dubbo\\://10.0.0.1\\:1/a.B?interface\\=a.B dubbo\\://h\\:x/a.B\n");
  Dead();
  const auto listener = Subscribe();
  Advance(milliseconds(2000));
  EXPECT_EQ(listener->lines.at(0), "a.B/providers list 10.0.0.1:1");
  EXPECT_EQ(log_.Count("FL-1-8"), 1u);
}

TEST_F(ListCacheTest, APlaceThatCannotBeWrittenIsAWarningAndTriedAgain) {
  const std::string blocked = dir_ / "file/lists.cache";
  PutFile(dir_ / "file", "no directory");
  Open("fake://h:1?file=" + blocked);
  const auto listener = Subscribe();
  PushAll({kFirst});
  EXPECT_EQ(listener->lines.size(), 3u);
  Advance(milliseconds(60000));
  EXPECT_GE(log_.Count("FL-1-9"), 2u);
  EXPECT_LE(log_.Count("FL-1-9"), 30u) << "ever more rarely";
  EXPECT_EQ(registry_->status().cache_file, "");
  std::filesystem::remove(dir_ / "file");
  Advance(milliseconds(60000));
  EXPECT_THAT(FileText(blocked), HasSubstr("10.0.0.1"));
}

TEST_F(ListCacheTest, WhoWatchesAllServicesIsNotServed) {
  Live({kFirst});
  Dead();
  const auto listener = Subscribe("consumer://10.0.0.9/*?interface=*&check=false");
  Advance(milliseconds(5000));
  EXPECT_THAT(listener->lines, IsEmpty());
}

TEST_F(ListCacheTest, MayEndBeforeTheFileIsRead) {
  Live({kFirst});
  const std::string before = FileText(name_);
  backend_ = std::make_shared<FakeBackend::State>(executor_);
  registry_ = FailbackRegistry::Create(U(Registry()), std::make_unique<FakeBackend>(backend_), Context());
  registry_->Subscribe(U(kConsumer), std::make_shared<RecordingListener>(), nullptr);
  Close();
  EXPECT_TRUE(backend_->destroyed);
  EXPECT_EQ(FileText(name_), before);
}

TEST_F(ListCacheTest, AListenerThatThrowsKeepsNoListOutOfIt) {
  Open(Registry());
  const auto listener = Subscribe();
  listener->then = [] { throw std::runtime_error("host bug"); };
  PushAll({kFirst});
  Advance(milliseconds(500));
  EXPECT_THAT(FileText(name_), HasSubstr("10.0.0.1"));
}

TEST_F(ListCacheTest, WhatNobodySubscribesForAMonthGoes) {
  const std::string other = "consumer://10.0.0.9/a.C?interface=a.C";
  int changes = 0;
  const auto write = [&] {
    Push("a.C", Category::kProviders, {"dubbo://10.0.1." + std::to_string(++changes) + ":1/a.C?interface=a.C"});
    Advance(milliseconds(500));
    return FileText(name_);
  };
  Live({kFirst});
  Open(Registry());
  Subscribe(other);
  EXPECT_THAT(write(), HasSubstr("\na.B=dubbo")) << "not subscribed now";
  EXPECT_THAT(FileText(name_), HasSubstr("\n_\\:idle\\:a.B=19723\n")) << "January 1st, 2024";
  Advance(std::chrono::hours(24 * 10));
  EXPECT_THAT(write(), HasSubstr("\na.B=dubbo"));
  Close();

  Advance(std::chrono::hours(24 * 21));
  Open(Registry());
  Subscribe(other);
  EXPECT_THAT(write(), HasSubstr("\na.B=dubbo")) << "who has just started may subscribe it yet";
  Advance(std::chrono::hours(1));
  EXPECT_THAT(write(), Not(HasSubstr("a.B")));
  EXPECT_THAT(FileText(name_), HasSubstr("\na.C=dubbo"));
}

TEST_F(ListCacheTest, WhatIsSubscribedStaysHoweverOldItIs) {
  const std::string other = "consumer://10.0.0.9/a.C?interface=a.C";
  Live({kFirst});
  Open(Registry());
  Subscribe(other);
  Push("a.C", Category::kProviders, {"dubbo://10.0.1.1:1/a.C?interface=a.C"});
  Close();
  Advance(std::chrono::hours(24 * 300));
  Dead();
  const auto listener = Subscribe();
  Advance(std::chrono::hours(2));
  EXPECT_EQ(listener->Take().size(), 3u) << "served from the file";
  Subscribe(other);
  backend_->Tell(Session::kConnected);
  Run();
  Push("a.C", Category::kProviders, {"dubbo://10.0.1.2:1/a.C?interface=a.C"});
  Advance(milliseconds(500));
  EXPECT_THAT(FileText(name_), HasSubstr("\na.B=dubbo"));
  EXPECT_THAT(FileText(name_), Not(HasSubstr("idle")));
}

TEST_F(ListCacheTest, ALookupIsAnsweredFromIt) {
  Live({kFirst, kSecond});
  std::optional<absl::StatusOr<std::vector<Url>>> found;
  const auto lookup = [&](std::string_view query) {
    found.reset();
    registry_->Lookup(U(query), [&](absl::StatusOr<std::vector<Url>> result) { found = std::move(result); });
    Run();
  };
  Dead();
  lookup(kConsumer);
  Advance(milliseconds(1999));
  EXPECT_FALSE(found.has_value()) << "the registry has file.wait for its answer";
  Advance(milliseconds(1));
  ASSERT_TRUE(found && found->ok());
  ASSERT_EQ((*found)->size(), 2u);
  EXPECT_EQ((**found)[0].host(), "10.0.0.1");
  EXPECT_EQ(log_.Count("FL-1-10"), 1u);

  lookup("consumer://10.0.0.9/a.X?interface=a.X");
  Advance(milliseconds(4999));
  EXPECT_FALSE(found.has_value()) << "the file does not know it";
  Advance(milliseconds(1));
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(absl::IsUnavailable(found->status()));

  backend_->Tell(Session::kConnected);
  Run();
  lookup(kConsumer);
  backend_->AnswerRead({1, absl::UnavailableError("broken"), false, {}});
  Run();
  ASSERT_TRUE(found && found->ok()) << "a registry that fails is not waited for";
  EXPECT_EQ((*found)->size(), 2u);
  backend_->open.clear();
  lookup(kConsumer);
  for (int category = 0; category < 3; ++category) backend_->AnswerRead({1, {}, false, {}});
  Run();
  ASSERT_TRUE(found && found->ok());
  EXPECT_THAT(**found, IsEmpty()) << "what the registry says counts";
}

}  // namespace
}  // namespace fairlead
