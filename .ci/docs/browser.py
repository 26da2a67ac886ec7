"""Looks at a built site in headless Chromium.

A page of this program's own shows the site's pages one after the other in a frame
of a phone's width, measures them, types into the search, and sends the results back
to the server that it came from. So it needs Chromium and nothing else.
"""
import json
import os
import shutil
import subprocess
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
LIMIT = 300  # seconds for everything
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
         "--disable-sync", "--disable-dev-shm-usage", "--hide-scrollbars", "--window-size=1300,900"]


def find():
    """Chromium's program: LETHE_CHROMIUM, one on PATH, or one that Debian's apt-get installs."""
    if os.environ.get("LETHE_CHROMIUM"):
        return os.environ["LETHE_CHROMIUM"]
    if not any(map(shutil.which, NAMES)) and shutil.which("apt-get"):
        subprocess.run("apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium", shell=True, stdout=subprocess.DEVNULL)
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if not found:
        raise SystemExit("the check needs Chromium or Chrome: install one, or name the program in LETHE_CHROMIUM")
    return found


class Server(SimpleHTTPRequestHandler):
    """Serves the site, the checking page, and takes its result."""

    def __init__(self, *args, job, **kwargs):
        self.job = job
        super().__init__(*args, **kwargs)

    def do_GET(self):
        if self.path == "/__check__.html":
            body = Path(__file__).with_name("browser.html").read_bytes().replace(b"JOB", json.dumps(self.job["ask"]).encode())
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        elif self.path.endswith("/search_index.json") and "?measured" in self.headers.get("Referer", ""):
            self.send_error(404)  # a page that is only measured need not read all the others
        else:
            super().do_GET()

    def do_POST(self):
        self.job["result"] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.send_response(204)
        self.end_headers()
        self.job["done"].set()

    def log_message(self, *args):
        pass


def visit(site, pages, width, queries):
    """Opens every page at a width, and searches for each query's name. Returns what was too wide and what was not found."""
    job = {"ask": {"pages": pages, "width": width, "queries": queries}, "result": None, "done": threading.Event()}
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Server, directory=str(site), job=job))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        address = f"http://127.0.0.1:{server.server_port}/__check__.html"
        chromium = subprocess.Popen([find(), *FLAGS, "--remote-debugging-port=0", f"--user-data-dir={profile}", address], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            job["done"].wait(LIMIT)
        finally:
            chromium.terminate()
            chromium.wait()
            server.shutdown()
    if job["result"] is None:
        raise SystemExit(f"the browser said nothing within {LIMIT} seconds")
    return job["result"]
