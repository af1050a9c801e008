#ifndef FAIRLEAD_URL_PARAMETER_NAMES_H_
#define FAIRLEAD_URL_PARAMETER_NAMES_H_

#include <array>
#include <string_view>

// The parameter names of Dubbo's urls that Fairlead reads, each spelled once.
namespace fairlead::names {

inline constexpr std::string_view kAnyhost = "anyhost";
inline constexpr std::string_view kApplication = "application";
inline constexpr std::string_view kCategory = "category";
inline constexpr std::string_view kCheck = "check";
inline constexpr std::string_view kClassifier = "classifier";
inline constexpr std::string_view kCompatibleConfig = "compatible_config";
inline constexpr std::string_view kConfigVersion = "configVersion";
inline constexpr std::string_view kDisabled = "disabled";
inline constexpr std::string_view kDynamic = "dynamic";
inline constexpr std::string_view kEnableEmptyProtection = "enable-empty-protection";
inline constexpr std::string_view kEnabled = "enabled";
inline constexpr std::string_view kForce = "force";
inline constexpr std::string_view kForceTag = "dubbo.force.tag";
inline constexpr std::string_view kGroup = "group";
inline constexpr std::string_view kHashArguments = "hash.arguments";
inline constexpr std::string_view kHashNodes = "hash.nodes";
inline constexpr std::string_view kInterface = "interface";
inline constexpr std::string_view kInterfaces = "interfaces";
inline constexpr std::string_view kLoadBalance = "loadbalance";
inline constexpr std::string_view kMethods = "methods";
inline constexpr std::string_view kNeedMock = "invocation.need.mock";  // an attachment
inline constexpr std::string_view kPid = "pid";
inline constexpr std::string_view kPriority = "priority";
inline constexpr std::string_view kProtectMaxAge = "protect-max-age";
inline constexpr std::string_view kProviderAddresses = "providerAddresses";
inline constexpr std::string_view kRemoteApplication = "remote.application";
inline constexpr std::string_view kRouter = "router";
inline constexpr std::string_view kRule = "rule";
inline constexpr std::string_view kRuntime = "runtime";
inline constexpr std::string_view kSide = "side";
inline constexpr std::string_view kTag = "dubbo.tag";
inline constexpr std::string_view kTimestamp = "timestamp";
inline constexpr std::string_view kVersion = "version";
inline constexpr std::string_view kWarmup = "warmup";
inline constexpr std::string_view kWeight = "weight";

// What describes a provider, also when it does not say it: a consumer's value never stands in for it.
inline constexpr std::array<std::string_view, 5> kProviderOnly = {"release", "dubbo", kMethods, kTimestamp,
                                                                  kTag};

}  // namespace fairlead::names

#endif  // FAIRLEAD_URL_PARAMETER_NAMES_H_
