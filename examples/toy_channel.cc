#include <future>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/status.h"

#include "fairlead/base/backoff.h"
#include "fairlead/base/random.h"
#include "fairlead/examples/toy_rpc.h"
#include "fairlead/examples/toy_stream.h"

namespace toy {

using asio::ip::tcp;
using Answer = std::promise<absl::StatusOr<std::string>>;

// The connection with its calls. Lives on the loop's thread, except for available().
class TcpChannel::Link : public std::enable_shared_from_this<Link> {
 public:
  Link(asio::io_context& context, const fairlead::Url& url, fairlead::Availability report)
      : host_(url.host()), port_(std::to_string(url.port())), report_(std::move(report)), resolver_(context),
        retry_timer_(context), random_(url.Hash()) {
    if (host_.starts_with('[')) host_ = host_.substr(1, host_.size() - 2);
  }

  bool available() const { return available_.load(std::memory_order_relaxed); }

  void Connect() {
    connecting_ = true;
    auto socket = std::make_shared<tcp::socket>(retry_timer_.get_executor());
    resolver_.async_resolve(host_, port_, [self = shared_from_this(), socket](asio::error_code error, auto endpoints) {
      if (error) return self->OnConnected(error, std::move(*socket));
      asio::async_connect(*socket, endpoints, [self, socket](asio::error_code failed, const tcp::endpoint&) {
        self->OnConnected(failed, std::move(*socket));
      });
    });
  }

  void Send(std::uint32_t number, std::string request, std::shared_ptr<Answer> answer) {
    if (closing_ || leaving_ || (stream_ == nullptr && !connecting_)) {
      return answer->set_value(absl::UnavailableError("no connection to " + host_ + ":" + port_));
    }
    calls_.emplace(number, std::move(answer));
    if (stream_ != nullptr) {
      stream_->Send(number, request);
    } else {
      waiting_.emplace_back(number, std::move(request));
    }
  }

  void Forget(std::uint32_t number) {
    calls_.erase(number);
    CloseIfDone();
  }

  void Destroy() {
    closing_ = true;
    retry_timer_.cancel();
    CloseIfDone();
  }

 private:
  void OnConnected(asio::error_code error, tcp::socket socket) {
    connecting_ = false;
    if (error) return OnClosed("cannot connect to " + host_ + ":" + port_ + ": " + error.message());
    backoff_.Reset();
    stream_ = std::make_shared<FrameStream>(std::move(socket));
    const std::weak_ptr<Link> weak = weak_from_this();  // the stream owns these functions, the link the stream
    stream_->Start(
        [weak](std::uint32_t number, std::string reply) {
          if (const auto self = weak.lock()) self->OnFrame(number, std::move(reply));
        },
        [weak] {
          const auto self = weak.lock();
          if (self != nullptr) self->OnClosed("lost the connection to " + self->host_ + ":" + self->port_);
        });
    for (const auto& [number, request] : std::exchange(waiting_, {})) {
      if (calls_.contains(number)) stream_->Send(number, request);
    }
    CloseIfDone();
    if (stream_ != nullptr) SetAvailable(true);
  }

  void OnFrame(std::uint32_t number, std::string reply) {
    if (number == FrameStream::kLeaving) {
      leaving_ = true;
      SetAvailable(false);
    } else if (const auto call = calls_.extract(number)) {
      call.mapped()->set_value(std::move(reply));
    }
    CloseIfDone();
  }

  void CloseIfDone() {
    if ((closing_ || leaving_) && calls_.empty() && stream_ != nullptr) stream_->Close();
  }

  void OnClosed(const std::string& why) {
    SetAvailable(false);
    stream_ = nullptr;
    leaving_ = false;
    waiting_.clear();
    for (const auto& call : std::exchange(calls_, {})) call.second->set_value(absl::UnavailableError(why));
    if (closing_) return;
    retry_timer_.expires_after(backoff_.Next(random_));
    retry_timer_.async_wait([self = shared_from_this()](asio::error_code cancelled) {
      if (!cancelled && !self->closing_) self->Connect();
    });
  }

  void SetAvailable(bool available) {
    available_.store(available, std::memory_order_relaxed);
    available ? report_.Up() : report_.Down();
  }

  std::string host_;
  const std::string port_;
  const fairlead::Availability report_;
  tcp::resolver resolver_;
  asio::steady_timer retry_timer_;
  fairlead::Random random_;
  fairlead::Backoff backoff_{std::chrono::milliseconds(10), std::chrono::milliseconds(50), std::chrono::seconds(2)};

  std::atomic<bool> available_{false};
  bool connecting_ = false, leaving_ = false, closing_ = false;
  std::shared_ptr<FrameStream> stream_;
  std::map<std::uint32_t, std::shared_ptr<Answer>> calls_;
  std::vector<std::pair<std::uint32_t, std::string>> waiting_;  // requests to send when connected
};

TcpChannel::TcpChannel(const fairlead::Url& url, fairlead::Availability report, std::shared_ptr<Loop> loop)
    : url_(url), loop_(std::move(loop)), link_(std::make_shared<Link>(loop_->context, url, std::move(report))) {
  asio::post(loop_->context, [link = link_] { link->Connect(); });
}

TcpChannel::~TcpChannel() = default;

absl::StatusOr<std::string> TcpChannel::Call(std::string_view method, std::string_view argument,
                                             std::chrono::milliseconds timeout) {
  std::string request(method);
  request.append("\n").append(argument);
  if (request.size() > FrameStream::kLongestBody) return absl::InvalidArgumentError("a call may have 1 MiB at most");

  std::uint32_t number = next_number_++;
  if (number == FrameStream::kLeaving) number = next_number_++;
  auto answer = std::make_shared<Answer>();
  auto coming = answer->get_future();
  asio::post(loop_->context,
             [link = link_, number, request = std::move(request), answer = std::move(answer)]() mutable {
               link->Send(number, std::move(request), std::move(answer));
             });
  if (coming.wait_for(timeout) == std::future_status::ready) return coming.get();
  asio::post(loop_->context, [link = link_, number] { link->Forget(number); });
  return absl::DeadlineExceededError("no answer from " + url_.Address() + " within " +
                                     std::to_string(timeout.count()) + " ms");
}

bool TcpChannel::IsAvailable() const noexcept { return link_->available(); }

void TcpChannel::Destroy() {
  asio::post(loop_->context, [link = link_] { link->Destroy(); });
}

TcpProtocol::TcpProtocol() : loop_(std::make_shared<Loop>()) {}

absl::StatusOr<std::unique_ptr<fairlead::Invoker>> TcpProtocol::Refer(const fairlead::Url& url,
                                                                      fairlead::Availability report) {
  if (url.host().empty() || url.port() == 0) {
    return absl::InvalidArgumentError("a provider needs host and port: " + url.ToString());
  }
  return std::make_unique<TcpChannel>(url, std::move(report), loop_);
}

}  // namespace toy
