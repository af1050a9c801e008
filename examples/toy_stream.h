#ifndef FAIRLEAD_EXAMPLES_TOY_STREAM_H_
#define FAIRLEAD_EXAMPLES_TOY_STREAM_H_

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include <asio.hpp>

namespace toy {

// One event loop on one thread of its own.
class Loop {
 public:
  Loop() : work_(asio::make_work_guard(context)), thread_([this] { context.run(); }) {}
  ~Loop() { Stop(); }
  // Ends the thread; what is queued is dropped. Not on the loop's own thread.
  void Stop() {
    context.stop();
    if (thread_.joinable()) thread_.join();
  }

  asio::io_context context{1};

 private:
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::thread thread_;
};

// A connection that carries frames both ways: 4 bytes length of the body, 4 bytes call number (both big endian),
// body. Everything runs on the thread of the socket's loop. Keeps itself alive while the connection stands.
class FrameStream : public std::enable_shared_from_this<FrameStream> {
 public:
  // The call number of a frame that belongs to no call: "send me nothing more, I answer what I have".
  static constexpr std::uint32_t kLeaving = 0;
  static constexpr std::uint32_t kLongestBody = 1 << 20;

  explicit FrameStream(asio::ip::tcp::socket socket) : socket_(std::move(socket)) {}

  // `on_closed` is called once, whichever side closes.
  void Start(std::function<void(std::uint32_t number, std::string body)> on_frame, std::function<void()> on_closed);
  void Send(std::uint32_t number, std::string_view body);
  void Close();

 private:
  void ReadHeader();
  void ReadBody();
  void WriteNext();

  asio::ip::tcp::socket socket_;
  std::function<void(std::uint32_t, std::string)> on_frame_;
  std::function<void()> on_closed_;
  std::array<unsigned char, 8> header_{};
  std::string body_;
  std::deque<std::string> outgoing_;
};

}  // namespace toy

#endif  // FAIRLEAD_EXAMPLES_TOY_STREAM_H_
