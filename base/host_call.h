#ifndef FAIRLEAD_BASE_HOST_CALL_H_
#define FAIRLEAD_BASE_HOST_CALL_H_

#include <exception>
#include <string_view>
#include <utility>

namespace fairlead {

// Calls into the host. What it throws is told as `threw(text)` and goes no further: tasks of an Executor must not throw.
template <class Call, class Threw>
void CallHost(Call&& call, Threw&& threw) {
  try {
    std::forward<Call>(call)();
  } catch (const std::exception& error) {
    threw(std::string_view(error.what()));
  } catch (...) {
    threw(std::string_view("something that is no std::exception"));
  }
}

}  // namespace fairlead

#endif  // FAIRLEAD_BASE_HOST_CALL_H_
