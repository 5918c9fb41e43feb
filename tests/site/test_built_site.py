# Licensed under the Apache License, Version 2.0; see LICENSE.
"""The site is built and opened in Chromium at 1280 and 400 pixels: formulas are typeset without an error, nothing is
loaded from elsewhere, and no page is wider than the window."""

import functools
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import threading

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
OUT = pathlib.Path(os.environ.get("MIXCERT_SITE", ROOT / "build" / "site" / "html"))
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
         "--disable-background-networking", "--disable-component-update", "--hide-scrollbars"]  # fmt: skip
# Opens one page after the other in a frame and reports what it sees of each.
HARNESS = """<!doctype html><body style="margin:0"><script>
const pages = %s, width = %d, seen = {};
const frame = document.createElement("iframe");
frame.style.cssText = `border:0;width:${width}px;height:900px`;
document.body.append(frame);
function open(index) {
  if (index === pages.length) {
    fetch("/__report", {method: "POST", body: JSON.stringify(seen)});
    return;
  }
  frame.onload = () => {
    const page = frame.contentWindow;
    const finish = () => {
      const document = page.document;
      seen[pages[index]] = {
        width: document.documentElement.scrollWidth,
        errors: document.querySelectorAll(".merror, [data-mml-node=merror], .MathJax_Error").length,
        formulas: document.querySelectorAll(".math").length,
        typeset: document.querySelectorAll(".MathJax_SVG").length,
        elsewhere: page.performance.getEntriesByType("resource").map((entry) => entry.name)
          .filter((name) => !name.startsWith(page.location.origin)),
      };
      setTimeout(() => open(index + 1), 0);
    };
    if (page.MathJax && page.MathJax.Hub) page.MathJax.Hub.Queue(finish); else finish();
  };
  frame.src = "/" + pages[index];
}
open(0);
</script>"""


@pytest.fixture(scope="module")
def site():
    for tool in ("chromium", "/usr/share/javascript/mathjax"):
        if not (shutil.which(tool) or os.path.exists(tool)):
            pytest.skip(tool + " is not installed")
    build = [ROOT / "scripts" / "build_site", "--no-install", "--out", OUT]
    run = subprocess.run(build, capture_output=True, text=True, timeout=1200)
    assert run.returncode == 0, run.stdout + run.stderr
    return OUT


def pages_of(site):
    return sorted(str(path.relative_to(site)) for path in site.rglob("*.html") if "_static" not in path.parts)


def seen_in_browser(site, width, folder):
    done = threading.Event()
    report = {}

    class Handler(http.server.SimpleHTTPRequestHandler):
        def do_GET(self):
            if self.path != "/__harness":
                return super().do_GET()
            body = (HARNESS % (json.dumps(pages_of(site)), width)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(body)
            return None

        def do_POST(self):
            report.update(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(204)
            self.end_headers()
            done.set()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = "http://127.0.0.1:%d/__harness" % server.server_port
    window = "--window-size=%d,900" % max(width, 500)
    browser = subprocess.Popen(
        ["chromium", *FLAGS, window, "--user-data-dir=%s" % folder, "--remote-debugging-port=0", address],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
    try:
        assert done.wait(1500), "the browser did not come to an end"
    finally:
        browser.terminate()
        browser.wait(30)
        server.shutdown()
    return report


@pytest.mark.parametrize("width", [1280, 400])
def test_every_page(site, width, tmp_path):
    seen = seen_in_browser(site, width, tmp_path)
    assert len(seen) > 80
    assert {page: what["errors"] for page, what in seen.items() if what["errors"]} == {}
    assert {page: what["width"] for page, what in seen.items() if what["width"] > width} == {}
    assert {page: what["elsewhere"] for page, what in seen.items() if what["elsewhere"]} == {}
    untypeset = {page: what for page, what in seen.items() if what["typeset"] < what["formulas"]}
    assert untypeset == {}
    assert sum(what["typeset"] for what in seen.values()) > 5000


def test_nothing_is_loaded_from_elsewhere(site):
    for page in pages_of(site):
        text = (site / page).read_text(encoding="utf-8")
        assert not re.search(r'<(?:script|img|iframe)[^>]+src="(?:https?:)?//', text), page
        assert not re.search(r'<link[^>]+rel="(?:stylesheet|preload|icon)"[^>]+href="(?:https?:)?//', text), page
    for style in (site / "_static").rglob("*.css"):
        assert not re.search(r"url\((?:https?:)?//", style.read_text(encoding="utf-8")), style


def test_all_formulas_are_typeset(site):
    counts = json.loads((site / "formulas.json").read_text(encoding="utf-8"))
    assert sum(page["formulas"] for page in counts.values()) > 3500
    assert sum((page["left"] for page in counts.values()), []) == []
