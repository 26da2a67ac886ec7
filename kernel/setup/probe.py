"""Starts a kernel as Jupyter does, runs one cell and says in JSON how it went."""

import json
import sys
import time


def main(kernel, code, seconds):
    from jupyter_client.manager import KernelManager

    began = time.monotonic()
    manager = KernelManager(kernel_name=kernel)
    result = {"text": "", "error": ""}
    manager.start_kernel()
    try:
        client = manager.client()
        client.start_channels()
        client.wait_for_ready(timeout=seconds)
        result["start"] = time.monotonic() - began

        def output(message):
            content = message["content"]
            if message["msg_type"] == "stream":
                result["text"] += content["text"]
            elif message["msg_type"] == "error":
                result["error"] += content["evalue"]

        for name in ("first", "later"):
            began = time.monotonic()
            reply = client.execute_interactive(code, timeout=seconds, output_hook=output)
            result[name] = time.monotonic() - began
            if reply["content"]["status"] != "ok":
                result["error"] = result["error"] or reply["content"].get("evalue", "the cell failed")
                break
        client.stop_channels()
    except Exception as problem:  # is shown to the user in one line
        result["error"] = result["error"] or f"{type(problem).__name__}: {problem}"
    finally:
        manager.shutdown_kernel(now=False)
        manager.cleanup_resources()
    print(json.dumps(result))


main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
