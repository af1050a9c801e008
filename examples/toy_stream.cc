#include "fairlead/examples/toy_stream.h"

#include <utility>

namespace toy {
namespace {

void AppendNumber(std::string& out, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(number >> shift & 0xff);
}

std::uint32_t ReadNumber(const unsigned char* at) {
  return std::uint32_t{at[0]} << 24 | std::uint32_t{at[1]} << 16 | std::uint32_t{at[2]} << 8 | at[3];
}

}  // namespace

void FrameStream::Start(std::function<void(std::uint32_t, std::string)> on_frame, std::function<void()> on_closed) {
  on_frame_ = std::move(on_frame);
  on_closed_ = std::move(on_closed);
  asio::error_code ignored;
  socket_.set_option(asio::ip::tcp::no_delay(true), ignored);
  ReadHeader();
}

void FrameStream::Send(std::uint32_t number, std::string_view body) {
  if (!socket_.is_open()) return;
  std::string& frame = outgoing_.emplace_back();
  AppendNumber(frame, static_cast<std::uint32_t>(body.size()));
  AppendNumber(frame, number);
  frame += body;
  if (outgoing_.size() == 1) WriteNext();
}

void FrameStream::Close() {
  asio::error_code ignored;
  socket_.close(ignored);
  on_frame_ = nullptr;
  if (auto on_closed = std::exchange(on_closed_, nullptr)) on_closed();
}

void FrameStream::ReadHeader() {
  asio::async_read(socket_, asio::buffer(header_), [self = shared_from_this()](asio::error_code error, std::size_t) {
    if (error || ReadNumber(self->header_.data()) > kLongestBody) return self->Close();
    self->ReadBody();
  });
}

void FrameStream::ReadBody() {
  body_.resize(ReadNumber(header_.data()));
  asio::async_read(socket_, asio::buffer(body_), [self = shared_from_this()](asio::error_code error, std::size_t) {
    if (error) return self->Close();
    // A copy, because the callback may close the stream and with it the function that is running.
    if (auto on_frame = self->on_frame_) on_frame(ReadNumber(self->header_.data() + 4), std::move(self->body_));
    if (self->socket_.is_open()) self->ReadHeader();
  });
}

// Asio writes with MSG_NOSIGNAL, so a peer that is gone is an error here and never a SIGPIPE.
void FrameStream::WriteNext() {
  asio::async_write(socket_, asio::buffer(outgoing_.front()),
                    [self = shared_from_this()](asio::error_code error, std::size_t) {
                      if (error) return self->Close();
                      self->outgoing_.pop_front();
                      if (!self->outgoing_.empty()) self->WriteNext();
                    });
}

}  // namespace toy
