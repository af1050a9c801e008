// What holds for a registry's url of every kind that is built.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "fairlead/cluster/default_extensions.h"
#include "fairlead/cluster/runtime.h"
#include "fairlead/tests/support/fake_protocol.h"
#include "fairlead/tests/support/log_recorder.h"

namespace fairlead {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Field;
using ::testing::HasSubstr;

constexpr char kConsumer[] = "consumer://10.0.0.9/com.acme.Orders?version=1.0.0";

// Of the kinds that are built: a url that is refused when it comes first is refused when it comes second.
TEST(RegistryKindsTest, AUrlIsRefusedWhateverIsOpenAlready) {
  const struct {
    const char *open, *bad, *names;
  } cases[] = {
      {"redis://127.0.0.1:1?check=false", "redis-client=sentinel", "redis-client=sentinel"},
      {"redis://127.0.0.1:1?check=false", "so.timeout=0", "so.timeout=0"},
      {"zookeeper://127.0.0.1:1?check=false", "dubbo.config-center.root-path=/a/../b", "root-path"},
      {"multicast://239.1.2.3:1?network.interface=lo&check=false", "reply.wait=0", "reply.wait=0"},
      {"file:///nowhere/providers.txt?check=false", "timeout=0", "timeout=0"},
      {"memory://kinds?check=false", "session=0", "session=0"},
  };
  auto runtime = *Runtime::Create({.extensions = DefaultExtensions(), .log = [](const LogRecord&) {}});
  const auto protocol = std::make_shared<FakeProtocol>();
  for (const auto& [open, bad, names] : cases) {
    const std::string url = std::string(open) + "&file-cache=false";
    const auto first = runtime->Refer(url, kConsumer, protocol);
    if (absl::IsNotFound(first.status())) continue;  // a kind that is not built
    ASSERT_TRUE(first.ok()) << first.status();
    const absl::Status second = runtime->Refer(url + "&" + bad, kConsumer, protocol).status();
    EXPECT_TRUE(absl::IsInvalidArgument(second) || absl::IsUnimplemented(second)) << url << " " << second;
    EXPECT_THAT(std::string(second.message()), HasSubstr(names));
  }
}

TEST(RegistryKindsTest, ABadValueThatIsReplacedIsSaid) {
  LogRecorder lines;
  auto runtime = *Runtime::Create({.extensions = DefaultExtensions(), .log = lines.sink()});
  const auto made =
      runtime->Refer("multicast://239.1.2.3:1?network.interface=lo&check=false&file-cache=false&unicast=zz&clean=1&session=20",
                     kConsumer, std::make_shared<FakeProtocol>());
  ASSERT_TRUE(made.ok()) << made.status();
  EXPECT_EQ(lines.count("FL-4-2"), 3u);
  for (const char* text : {"unicast=zz: expected true or false; false holds instead",
                           "clean=1: expected true or false; false holds instead",
                           "session=20: expected at least 500 ms; 500 holds instead"}) {
    EXPECT_THAT((*made)->Explain({}).skipped, Contains(HasSubstr(text)));
  }
}

}  // namespace
}  // namespace fairlead
