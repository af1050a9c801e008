#ifndef FAIRLEAD_TESTS_DIRECTORY_DIRECTORY_FIXTURE_H_
#define FAIRLEAD_TESTS_DIRECTORY_DIRECTORY_FIXTURE_H_

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fairlead/directory/registry_directory.h"
#include "fairlead/tests/support/directory_world.h"
#include "fairlead/tests/support/fed_directory.h"

namespace fairlead {

// A RegistryDirectory in virtual time, fed by hand.
class DirectoryFixture : public ::testing::Test, protected DirectoryWorld {
 protected:
  void SetUp() override { Start("consumer://10.0.0.9/com.acme.Orders?application=shop"); }
  // Of a consumer for whom an empty list holds at once.
  static constexpr const char* kUnprotected = FedDirectory::kUnprotected;
  void TearDown() override {
    handle_.reset();
    if (directory_ != nullptr) directory_->Close(std::chrono::nanoseconds(0), nullptr);
    executor_.Advance(std::chrono::seconds(1));
  }

  void Start(const std::string& consumer) {
    if (directory_ != nullptr) TearDown();
    directory_ = RegistryDirectory::Create(Config(consumer, protocol_));
    handle_ = directory_->MakeDirectory(nullptr);
  }

  void Notify(Category category, ListKind kind, std::vector<Url> urls = {}, std::vector<std::string> unreadable = {}) {
    directory_->Notify({std::string(kService), category, ++version_, kind, std::move(urls), std::move(unreadable)});
  }
  void Providers(const std::vector<std::string>& list) {
    std::vector<Url> urls;
    for (const std::string& one : list) urls.push_back(ProviderAt(one));
    Notify(Category::kProviders, urls.empty() ? ListKind::kEmpty : ListKind::kList, urls);
  }
  void Rules(std::vector<Url> urls) {
    const ListKind kind = urls.empty() ? ListKind::kEmpty : ListKind::kList;
    Notify(Category::kRouters, kind, std::move(urls));
  }
  void Overrides(const std::vector<std::string>& list) {
    std::vector<Url> urls;
    for (const std::string& one : list) urls.push_back(Parse(one));
    Notify(Category::kConfigurators, urls.empty() ? ListKind::kEmpty : ListKind::kList, urls);
  }
  // The usual start: no rules, no overrides, these providers.
  void Open(const std::vector<std::string>& list) {
    Overrides({});
    Rules({});
    Providers(list);
    executor_.RunReady();
  }

  std::string PickAddress(const Invocation& invocation = {}, std::span<const ProviderId> tried = {}) {
    absl::StatusOr<Lease> lease = handle_->Select(invocation, tried);
    return lease.ok() ? lease->As<FakeProtocol::FakeInvoker>().address() : std::string(lease.status().message());
  }
  std::map<std::string, int> Shares(int picks, const Invocation& invocation = {}) {
    std::map<std::string, int> shares;
    for (int i = 0; i < picks; ++i) ++shares[PickAddress(invocation)];
    return shares;
  }
  std::vector<std::string> ListAddresses(const Invocation& invocation = {}) {
    std::vector<std::string> addresses;
    for (const Url& url : handle_->List(invocation)) addresses.push_back(url.Address());
    return addresses;
  }
  // What could not be used, as Explain names it.
  std::vector<std::string> Skipped() const { return handle_->Explain({}).skipped; }

  std::shared_ptr<FakeProtocol> protocol_ = std::make_shared<FakeProtocol>();
  std::shared_ptr<RegistryDirectory> directory_;
  std::shared_ptr<Directory> handle_;
  std::uint64_t version_ = 0;
};

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_DIRECTORY_DIRECTORY_FIXTURE_H_
