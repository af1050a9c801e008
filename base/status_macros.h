#ifndef FAIRLEAD_BASE_STATUS_MACROS_H_
#define FAIRLEAD_BASE_STATUS_MACROS_H_

#include <utility>

// For .cc files. Leave the function with the status unless it is OK.
#define FAIRLEAD_RETURN_IF_ERROR(expression)          \
  do {                                                \
    if (auto status_ = (expression); !status_.ok()) { \
      return status_;                                 \
    }                                                 \
  } while (false)

#define FAIRLEAD_CONCAT_INNER_(a, b) a##b
#define FAIRLEAD_CONCAT_(a, b) FAIRLEAD_CONCAT_INNER_(a, b)

// FAIRLEAD_ASSIGN_OR_RETURN(auto x, MakeX());
#define FAIRLEAD_ASSIGN_OR_RETURN(lhs, expression) \
  FAIRLEAD_ASSIGN_OR_RETURN_IMPL_(FAIRLEAD_CONCAT_(status_or_, __LINE__), lhs, expression)
#define FAIRLEAD_ASSIGN_OR_RETURN_IMPL_(result, lhs, expression) \
  auto result = (expression);                                    \
  if (!result.ok()) return result.status();                      \
  lhs = *std::move(result)

#endif  // FAIRLEAD_BASE_STATUS_MACROS_H_
