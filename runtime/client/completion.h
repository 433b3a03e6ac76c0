// The handler of one asynchronous call, its type forgotten: what stands between the templates that take an Asio
// completion token and the compiled code that finishes the call. Called at most once; move-only.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <memory>
#include <utility>

namespace fibocast {

template <class Result>
class Completion {
 public:
  Completion() = default;
  // `executor` runs the handler unless the handler is bound to one of its own.
  template <class Handler>
  Completion(Handler handler, const boost::asio::any_io_executor& executor)
      : base_(std::make_unique<Holder<Handler>>(std::move(handler), executor)) {}

  explicit operator bool() const { return base_ != nullptr; }
  // Posts the handler with `result`; never runs it inside this call.
  void operator()(Result result) { std::exchange(base_, nullptr)->post(std::move(result)); }

 private:
  struct Base {
    virtual ~Base() = default;
    virtual void post(Result result) = 0;
  };
  template <class Handler>
  struct Holder final : Base {
    Holder(Handler h, const boost::asio::any_io_executor& executor)
        : handler(std::move(h)), work(boost::asio::get_associated_executor(handler, executor)) {}
    void post(Result result) override {
      boost::asio::post(work.get_executor(),
                        [h = std::move(handler), r = std::move(result)]() mutable { std::move(h)(std::move(r)); });
    }
    Handler handler;
    boost::asio::executor_work_guard<boost::asio::associated_executor_t<Handler, boost::asio::any_io_executor>> work;
  };
  std::unique_ptr<Base> base_;
};

}  // namespace fibocast
