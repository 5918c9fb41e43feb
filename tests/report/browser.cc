// Licensed under the Apache License, Version 2.0; see LICENSE.
//
// The DevTools protocol: JSON messages that end with a zero byte, to descriptor 3 of the browser and from its
// descriptor 4.
#include "report/browser.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <thread>

namespace mixcert::test {
namespace {

using Json = Browser::Json;

constexpr int kPatience = 60'000;  ///< milliseconds for any answer

void check(bool good, const std::string& what) {
  if (!good) throw std::runtime_error("browser: " + what);
}

std::string decoded_base64(const std::string& text) {
  std::string bytes;
  unsigned block = 0;
  int bits = 0;
  for (const char c : text) {
    const std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const std::size_t digit = digits.find(c);
    if (digit == std::string_view::npos) break;
    block = (block << 6U) | static_cast<unsigned>(digit);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>((block >> static_cast<unsigned>(bits)) & 255U);
  }
  return bytes;
}

/// In the child: the pipes at descriptors 3 and 4, then Chromium.
[[noreturn]] void become_browser(int reading, int writing, const std::string& profile) {
  // Both are moved out of the way first: one may be 3 or 4 already.
  const int in = ::fcntl(reading, F_DUPFD, 10), out = ::fcntl(writing, F_DUPFD, 10);
  ::dup2(in, 3);
  ::dup2(out, 4);
  const int null = ::open("/dev/null", O_RDWR);
  for (const int stream : {0, 1, 2}) ::dup2(null, stream);
  const std::string folder = "--user-data-dir=" + profile;
  for (const char* program : {"chromium", "chromium-browser", "google-chrome"}) {
    ::execlp(program, program, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
             "--no-first-run", "--disable-background-networking", "--disable-component-update",
             "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--remote-debugging-pipe",
             folder.c_str(), static_cast<char*>(nullptr));
  }
  ::_exit(127);
}

}  // namespace

Browser::Browser() {
  start();
  attach();
}

Browser::~Browser() {
  ::close(to_browser_);  // the end of the pipe ends the browser
  ::close(from_browser_);
  for (int i = 0; i < 50; ++i) {
    if (::waitpid(process_, nullptr, WNOHANG) == process_) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
}

void Browser::start() {
  std::signal(SIGPIPE, SIG_IGN);  // a browser that is gone is an error to report
  int forth[2], back[2];
  check(::pipe2(forth, O_CLOEXEC) == 0 && ::pipe2(back, O_CLOEXEC) == 0, "no pipe");
  process_ = ::fork();
  check(process_ >= 0, "no process");
  if (process_ == 0) become_browser(forth[0], back[1], profile_ / "profile");
  ::close(forth[0]);
  ::close(back[1]);
  to_browser_ = forth[1];
  from_browser_ = back[0];
}

void Browser::attach() {
  const Json target = call("Target.createTarget", {{"url", "about:blank"}});
  const Json session = call("Target.attachToTarget", {{"targetId", target["targetId"]}, {"flatten", true}});
  session_ = session["sessionId"];
  for (const char* domain : {"Page", "Runtime", "Log", "Network"}) call(std::string(domain) + ".enable");
}

Json Browser::receive() {
  for (;;) {
    const std::size_t end = received_.find('\0');
    if (end != std::string::npos) {
      Json message = Json::parse(received_.substr(0, end));
      received_.erase(0, end + 1);
      return message;
    }
    pollfd waiting{from_browser_, POLLIN, 0};
    check(::poll(&waiting, 1, kPatience) > 0, "no answer within a minute");
    char buffer[65536];
    const ssize_t count = ::read(from_browser_, buffer, sizeof buffer);
    check(count > 0, "Chromium could not be started or has ended (package chromium)");
    received_.append(buffer, static_cast<std::size_t>(count));
  }
}

Json Browser::call(const std::string& method, Json parameters) {
  const int id = ++last_call_;
  Json message{{"id", id}, {"method", method}, {"params", std::move(parameters)}};
  if (!session_.empty()) message["sessionId"] = session_;
  const std::string text = message.dump();
  for (std::size_t sent = 0; sent <= text.size();) {
    const ssize_t count = ::write(to_browser_, text.c_str() + sent, text.size() + 1 - sent);
    check(count > 0, "Chromium could not be started or has ended (package chromium)");
    sent += static_cast<std::size_t>(count);
  }
  for (;;) {
    const Json answer = receive();
    if (answer.value("id", 0) != id) {
      note(answer);
      continue;
    }
    check(!answer.contains("error"), method + ": " + answer.dump());
    return answer["result"];
  }
}

void Browser::note(const Json& event) {
  const std::string method = event.value("method", "");
  if (method == "Page.loadEventFired") loaded_ = true;
  if (method == "Network.requestWillBeSent") requests_.push_back(event["params"]["request"]["url"]);
  for (const char* speaking : {"Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded",
                               "Page.javascriptDialogOpening"}) {
    if (method == speaking) messages_.push_back(event["params"].dump().substr(0, 2000));
  }
}

void Browser::show_as(int width, int height, bool dark) {
  call("Emulation.setDeviceMetricsOverride",
       {{"width", width}, {"height", height}, {"deviceScaleFactor", 1}, {"mobile", false}});
  call("Emulation.setEmulatedMedia",
       {{"features", {{{"name", "prefers-color-scheme"}, {"value", dark ? "dark" : "light"}}}}});
}

void Browser::open(const std::filesystem::path& file) {
  requests_.clear();
  messages_.clear();
  loaded_ = false;
  std::string address = "file://";
  for (const unsigned char c : std::filesystem::absolute(file).string()) {
    const bool plain = std::isalnum(c) != 0 || c == '/' || c == '.' || c == '-' || c == '_';
    char code[4];
    std::snprintf(code, sizeof code, "%%%02X", static_cast<unsigned>(c));
    address += plain ? std::string(1, static_cast<char>(c)) : std::string(code);
  }
  call("Page.navigate", {{"url", address}});
  while (!loaded_) note(receive());
  check(becomes_true("'drawn' in document.documentElement.dataset"), "the charts were not drawn");
}

Json Browser::evaluate(const std::string& expression) {
  const Json answer =
      call("Runtime.evaluate", {{"expression", expression}, {"returnByValue", true}, {"awaitPromise", true}});
  check(!answer.contains("exceptionDetails"), expression + ": " + answer.dump());
  return answer["result"].value("value", Json());
}

bool Browser::becomes_true(const std::string& expression) {
  for (int i = 0; i < 200; ++i) {
    if (evaluate(expression) == true) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

void Browser::press(const std::string& key) {
  Json event{{"key", key}, {"code", key == " " ? "Space" : key}};
  event["windowsVirtualKeyCode"] = key == "Enter" ? 13 : key == "Tab" ? 9 : 32;
  event["type"] = "keyDown";
  if (key != "Tab") event["text"] = key == "Enter" ? "\r" : key;
  call("Input.dispatchKeyEvent", event);
  event["type"] = "keyUp";
  event.erase("text");
  call("Input.dispatchKeyEvent", event);
}

void Browser::screenshot(const std::filesystem::path& file) {
  const Json size = evaluate("[document.documentElement.clientWidth, document.documentElement.scrollHeight]");
  const Json clip{{"x", 0}, {"y", 0}, {"width", size[0]}, {"height", size[1]}, {"scale", 1}};
  const Json picture =
      call("Page.captureScreenshot", {{"format", "png"}, {"captureBeyondViewport", true}, {"clip", clip}});
  std::ofstream(file, std::ios::binary) << decoded_base64(picture["data"]);
}

}  // namespace mixcert::test
