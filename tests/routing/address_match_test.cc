#include "fairlead/routing/address_match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string_view>
#include <vector>

namespace fairlead {
namespace {

AddressMatch Make(AddressMatch::Kinds kinds) { return AddressMatch(std::move(kinds), Compat::kStrict); }

TEST(AddressMatchTest, EachKind) {
  struct Row {
    AddressMatch::Kinds kinds;
    std::string_view address;
    bool matches;
  };
  for (const Row& row : std::vector<Row>{
           {{}, "10.0.0.1", false},
           {{.cird = "10.0.0.0/24"}, "10.0.0.7", true},
           {{.cird = "10.0.0.0/24"}, "10.0.1.7", false},
           {{.cird = "10.0.0.0/24"}, "10.0.0.7:20880", false},  // for hosts
           {{.cird = "10.0.0.7:20880"}, "10.0.0.7:20880", true},  // the very text
           {{.cird = "10.0.0.1-5"}, "10.0.0.5", true},
           {{.cird = "10.0.0.1-5"}, "10.0.0.6", false},
           {{.cird = "provider-1"}, "provider-1", true},
           {{.cird = "10.0.0.0/x"}, "10.0.0.1", false},
           {{.wildcard = "*"}, "anything", true},
           {{.wildcard = "0.0.0.0"}, "anything", true},
           {{.wildcard = "10.0.*"}, "10.0.0.1:20880", true},
           {{.wildcard = "10.0.0.1:*"}, "10.0.0.1", false},
           {{.wildcard = "*:20880"}, "10.0.0.1:20880", true},
           {{.exact = "10.0.0.1"}, "10.0.0.1", true},
           {{.exact = "10.0.0.1"}, "10.0.0.1:20880", false},
           {{.exact = "*"}, "10.0.0.1", false},
           // One kind that fails leaves it to the next.
           {{.cird = "10.1.0.0/16", .wildcard = "10.2.*", .exact = "10.3.0.1"}, "10.1.0.1", true},
           {{.cird = "10.1.0.0/16", .wildcard = "10.2.*", .exact = "10.3.0.1"}, "10.2.0.1", true},
           {{.cird = "10.1.0.0/16", .wildcard = "10.2.*", .exact = "10.3.0.1"}, "10.3.0.1", true},
           {{.cird = "10.1.0.0/16", .wildcard = "10.2.*", .exact = "10.3.0.1"}, "10.4.0.1", false},
       }) {
    const AddressMatch match = Make(row.kinds);
    EXPECT_EQ(match.Matches(row.address), row.matches) << match.ToString() << " and " << row.address;
  }
  EXPECT_FALSE(AddressMatch().Matches("10.0.0.1"));
}

TEST(AddressMatchTest, SaysWhatItIsAndWhatIsWrongWithIt) {
  EXPECT_EQ(Make({.cird = "10.0.0.0/8", .exact = "h"}).ToString(), "cird \"10.0.0.0/8\" or exact \"h\"");
  EXPECT_EQ(AddressMatch().ToString(), "nothing");
  EXPECT_TRUE(Make({.cird = "10.0.0.0/8"}).status().ok());
  EXPECT_TRUE(Make({.wildcard = "/"}).status().ok());
  EXPECT_FALSE(Make({.cird = "10.0.0.0/x"}).status().ok());
}

}  // namespace
}  // namespace fairlead
