#ifndef FAIRLEAD_TESTS_SUPPORT_CHI_SQUARE_H_
#define FAIRLEAD_TESTS_SUPPORT_CHI_SQUARE_H_

#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace fairlead {

// Do counts follow shares that add up to 1? Nobody without a share may have a count. The limit, for k degrees of
// freedom k + 5 sqrt(2k) + 16, is passed by chance about once in a million.
inline ::testing::AssertionResult FollowShares(const std::vector<double>& counts, const std::vector<double>& shares) {
  double total = 0, chi_square = 0, degrees = -1;
  for (const double count : counts) total += count;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] == 0) {
      if (counts[i] != 0) return ::testing::AssertionFailure() << "member " << i << " has no share, yet " << counts[i];
      continue;
    }
    const double due = total * shares[i];
    chi_square += (counts[i] - due) * (counts[i] - due) / due;
    ++degrees;
  }
  if (chi_square <= degrees + 5 * std::sqrt(2 * degrees) + 16) return ::testing::AssertionSuccess();
  auto failure = ::testing::AssertionFailure() << "chi-square " << chi_square << " for " << degrees << " degrees:";
  for (std::size_t i = 0; i < shares.size(); ++i) failure << ' ' << counts[i] << '/' << total * shares[i];
  return failure;
}

}  // namespace fairlead

#endif  // FAIRLEAD_TESTS_SUPPORT_CHI_SQUARE_H_
