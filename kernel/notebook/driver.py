"""Executes a notebook with nbclient for Lethe's runner.

Commands come as JSON lines on standard input, events go as JSON lines to
standard output; what can be decided elsewhere is decided in Go. The end of
standard input ends the kernel and this program.
"""

import asyncio
import json
import os
import re
import sys
import threading
import time

# jsonschema would build a parser of addresses, for a second at every start; no
# notebook's format has one. Without the module it does without.
sys.modules["rfc3987_syntax"] = None

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError

# The kernel inherits standard output, so the events get a descriptor of their own.
events = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)

REPLY = 30  # seconds that the end of the outputs may come after the cell's reply
SHUTDOWN = 10  # seconds that a kernel has to end by itself
STARTS = 3  # of a kernel that dies before it answers


class Ended(Exception):
    """Standard input has ended."""


def say(event, **fields):
    events.write(json.dumps({"event": event, **fields}, default=str) + "\n")
    events.flush()


def rewind(text):
    """Leaves of a line that was overwritten from its start what was written last.

    A return that ends a text overwrites nothing yet, so that pieces may be rewound one
    after the other: rewind(rewind(a) + b) is rewind(a + b).
    """
    if "\r" not in text:
        return text
    *lines, last = text.split("\n")
    begun = last.rstrip("\r")
    kept = [line.rstrip("\r").rpartition("\r")[2] for line in lines]
    return "\n".join([*kept, begun.rpartition("\r")[2] + last[len(begun) :]])


class Stream:
    """A stream's output that is being written. Its text is put together when somebody
    reads it, or when twice as much has come as was left of it: every character is
    looked at a few times, however many messages bring the text."""

    def __init__(self, out):
        self.out, self.pieces, self.size, self.limit = out, [], 0, 0
        self.add(out.text)

    def add(self, text):
        self.pieces.append(text)
        self.size += len(text)
        if self.size > self.limit:
            self.settle()

    def settle(self):
        self.out.text = rewind("".join(self.pieces))
        self.pieces, self.size = [self.out.text], len(self.out.text)
        self.limit = 2 * self.size + (1 << 16)


class Client(NotebookClient):
    """Keeps consecutive texts on one stream as one output, as a reader sees them."""

    stream = None  # the last output, while it is one

    def output(self, outs, msg, display_id, cell_index):
        content = msg["content"]
        ours = self.stream and outs and outs[-1] is self.stream.out and not self.clear_before_next_output
        if ours and msg["msg_type"] == "stream" and self.stream.out.name == content["name"]:
            self.stream.add(content["text"])
            return None
        self.settle()
        out = super().output(outs, msg, display_id, cell_index)
        if out and out.output_type == "stream":
            self.stream = Stream(out)
        return out

    def settle(self):
        """Puts the text of the stream that is being written together."""
        if self.stream:
            self.stream.settle()
            self.stream = None


def fresh(notebook, metadata):
    """Takes away what an earlier execution has left, and says which kernel it is."""
    notebook.metadata.update(metadata)
    notebook.metadata.pop("widgets", None)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None


def scrubbed(notebook, folders):
    """The notebook's file without this machine's folders in its outputs."""
    places = [(re.compile(r"(^|[^\w./~-])" + re.escape(path) + r"(/|$|[^\w./-])", re.M), name) for path, name in folders]

    def clean(text):
        for place, name in places:
            text = place.sub(lambda found: found[1] + name + found[2], text)
        return re.sub(r"gonb_[0-9a-f]{8}", "gonb", text)

    copy = nbformat.from_dict(json.loads(json.dumps(notebook)))
    for output in (o for cell in copy.cells for o in cell.get("outputs", [])):
        for field in ("text", "evalue"):
            if field in output:
                output[field] = clean(output[field])
        if "traceback" in output:
            output.traceback = [clean(line) for line in output.traceback]
        for media, value in output.get("data", {}).items():
            if media.startswith("text/"):
                output.data[media] = clean(value)
    return nbformat.writes(copy) + "\n"


class Runner:
    def __init__(self, start, commands):
        self.commands, self.folders, self.reply = commands, start["folders"], {}
        self.notebook = nbformat.reads(start["notebook"], as_version=4)
        nbformat.validate(self.notebook)
        fresh(self.notebook, start["metadata"])
        self.client = Client(
            self.notebook,
            kernel_name=start["kernel"],
            resources={"metadata": {"path": start.get("folder", "")}},
            timeout=None,
            startup_timeout=start["seconds"],
            iopub_timeout=REPLY,
            raise_on_iopub_timeout=True,
            record_timing=False,
            skip_cells_with_tag="",
            on_cell_executed=lambda execute_reply, **_: self.reply.update(execute_reply["content"]),
        )

    async def start(self):
        """Starts the kernel. One that dies before it answers is started again on other ports,
        as Jupyter does: between the choice of a port and its use another program may take it."""
        for left in reversed(range(STARTS)):
            manager = self.client.create_kernel_manager()
            manager.shutdown_wait_time = SHUTDOWN
            await self.client.async_start_new_kernel()
            say("started", pid=getattr(manager.provisioner, "pid", None) or 0)
            try:
                return await self.client.async_start_new_kernel_client()
            except RuntimeError as error:
                if not left or "died before" not in str(error):
                    raise

    async def serve(self):
        await self.start()
        async with self.client.async_setup_kernel():
            say("ready", notebook=scrubbed(self.notebook, self.folders))
            while True:
                command = await self.commands.get()
                if command["do"] == "end":
                    return
                if command["do"] == "execute":
                    event = await self.obeying(self.execute(command["cell"], command["count"]))
                    say(**event)  # only now: the next command may come at once

    async def execute(self, index, count):
        began, event = time.monotonic(), "done"
        self.reply.clear()
        try:
            await self.client.async_execute_cell(self.notebook.cells[index], index, execution_count=count)
        except CellExecutionError:
            pass  # the reply says it
        except DeadKernelError:
            event = "died"
            self.notebook.cells[index].execution_count = count
        seconds = time.monotonic() - began
        self.client.settle()
        return {"event": event, "seconds": seconds, "reply": self.reply, "notebook": scrubbed(self.notebook, self.folders)}

    async def obeying(self, work):
        """Does the work, and what is said meanwhile."""
        work = asyncio.ensure_future(work)
        while not work.done():
            command = asyncio.ensure_future(self.commands.get())
            await asyncio.wait({work, command}, return_when=asyncio.FIRST_COMPLETED)
            if not command.done():
                command.cancel()
            elif command.result()["do"] == "interrupt":
                await self.client.km.interrupt_kernel()
            else:
                raise Ended
        return await work


async def main():
    loop, commands = asyncio.get_running_loop(), asyncio.Queue()

    def read():
        for line in sys.stdin:
            loop.call_soon_threadsafe(commands.put_nowait, json.loads(line))
        loop.call_soon_threadsafe(commands.put_nowait, {"do": "end"})

    threading.Thread(target=read, daemon=True).start()
    start = await commands.get()
    if start["do"] == "start":
        try:
            await Runner(start, commands).serve()
        except Ended:
            pass
        except Exception as error:
            say("failed", text=f"{type(error).__name__}: {str(error).strip().splitlines()[0]}")
            raise SystemExit(1)


asyncio.run(main())
