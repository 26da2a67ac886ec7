"""Speaks the Jupyter protocol for Lethe's runner.

Commands come as JSON lines on standard input, events go as JSON lines to
standard output; everything that can be decided elsewhere is decided in Go.
The end of standard input ends the kernel and this program.
"""

import json
import os
import queue
import signal
import sys
import threading
import time

# The kernel inherits standard output, so the events get a descriptor of their own.
events = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)

POLL = 0.05  # seconds between two looks at the commands while a cell runs
REPLY = 30  # seconds that a reply may come after the cell's last output


def say(event, **fields):
    events.write(json.dumps({"event": event, **fields}, default=str) + "\n")
    events.flush()


def read(commands):
    for line in sys.stdin:
        commands.put(json.loads(line))
    commands.put({"do": "end"})


class Ended(Exception):
    """Standard input has ended, or a command said so."""


class Kernel:
    def __init__(self, command, commands):
        from jupyter_client import KernelManager

        self.commands = commands
        self.manager = KernelManager(kernel_name=command["kernel"])
        self.manager.shutdown_wait_time = 10
        self.manager.start_kernel(cwd=command["folder"])
        process = getattr(self.manager.provisioner, "process", None)
        say("started", pid=getattr(process, "pid", 0))
        self.client = self.manager.client()

    def connect(self, seconds):
        self.client.start_channels()
        self.client.wait_for_ready(timeout=seconds)
        say("ready")

    def look(self):
        """Obeys what has been said while a cell runs."""
        try:
            command = self.commands.get_nowait()
        except queue.Empty:
            return
        if command["do"] == "interrupt":
            self.manager.interrupt_kernel()
        elif command["do"] == "end":
            raise Ended

    def execute(self, code):
        began = time.monotonic()
        request = self.client.execute(code, store_history=True, allow_stdin=False)
        while True:
            self.look()
            try:
                message = self.client.get_iopub_msg(timeout=POLL)
            except queue.Empty:
                if not self.manager.is_alive():
                    say("died", seconds=time.monotonic() - began)
                    return
                continue
            if message["parent_header"].get("msg_id") != request:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "status" and content["execution_state"] == "idle":
                break
            if kind != "status":
                say("message", kind=kind, content=content)
        seconds = time.monotonic() - began
        content = self.reply(request)
        say("done", seconds=seconds, status=content.get("status", "error"), content=content)

    def reply(self, request):
        until = time.monotonic() + REPLY
        while time.monotonic() < until:
            self.look()
            try:
                message = self.client.get_shell_msg(timeout=POLL)
            except queue.Empty:
                continue
            if message["parent_header"].get("msg_id") == request:
                return message["content"]
        return {"status": "error", "ename": "no reply", "evalue": f"no reply within {REPLY} s of the cell's end"}

    def end(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel()
        self.manager.cleanup_resources()


def serve(commands):
    first = commands.get()
    if first["do"] != "start":
        return
    kernel = Kernel(first, commands)
    try:
        kernel.connect(first["seconds"])
        while True:
            command = commands.get()
            if command["do"] == "end":
                return
            if command["do"] == "execute":
                kernel.execute(command["code"])
    except Ended:
        pass
    finally:
        kernel.end()


def main():
    # A handler, not SIG_IGN: the kernel's cells would inherit that.
    signal.signal(signal.SIGINT, lambda *_: None)
    commands = queue.Queue()
    threading.Thread(target=read, args=(commands,), daemon=True).start()
    try:
        serve(commands)
    except Exception as error:
        say("failed", text=f"{type(error).__name__}: {error}")
        sys.exit(1)


main()
