((config) => {
  "use strict";
  // The page may hold the place for the sliders only a moment after this runs.
  const begin = (tries) => {
    const root = document.getElementById(config.id);
    if (root) {
      build(root);
    } else if (tries > 0) {
      setTimeout(() => begin(tries - 1), 50);
    }
  };

  const build = (root) => {
    root.textContent = "";
    const inputs = config.sliders.map((s) => row(root, s));
    const button = document.createElement("button");
    button.textContent = "done";
    const status = document.createElement("span");
    status.style.marginLeft = "1em";
    root.append(button, status);
    talk(root, inputs, button, status);
  };

  const row = (root, slider) => {
    const line = document.createElement("div");
    const name = document.createElement("label");
    name.textContent = slider.name + " ";
    name.style.display = "inline-block";
    name.style.minWidth = "10em";
    const input = document.createElement("input");
    input.type = "range";
    input.min = 0;
    input.max = slider.labels.length - 1;
    input.value = slider.at;
    input.style.width = "16em";
    input.style.verticalAlign = "middle";
    input.setAttribute("aria-label", slider.name);
    const value = document.createElement("output");
    value.style.marginLeft = "1em";
    const show = () => {
      value.textContent = slider.labels[input.valueAsNumber];
      input.setAttribute("aria-valuetext", value.textContent);
    };
    input.addEventListener("input", show);
    show();
    line.append(name, input, value);
    root.append(line);
    return input;
  };

  // address is where the notebook server listens; a server below a path, behind
  // https or with a token says so in the page.
  const address = () => {
    let page = {};
    try {
      page = JSON.parse(document.getElementById("jupyter-config-data").textContent);
    } catch (_) {
      // not JupyterLab: the defaults have to do
    }
    const base = page.baseUrl || document.body.dataset.baseUrl || "/";
    const url = new URL(page.wsUrl || base, document.location.href);
    url.protocol = document.location.protocol === "https:" ? "wss:" : "ws:";
    url.pathname = url.pathname.replace(/\/?$/, "/") + "api/kernels/" + config.kernel + "/channels";
    url.searchParams.set("session_id", config.id);
    if (page.token) {
      url.searchParams.set("token", page.token);
    }
    return url;
  };

  const identifier = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");

  // talk sends the positions of the sliders to the cell. What the cell has heard
  // it writes into the page, in the output below the sliders: the kernel's way
  // from the cell to a script would bring its own script along each time.
  const talk = (root, inputs, button, status) => {
    const socket = new WebSocket(address());
    let comm = "";
    let number = 0; // of the last message
    let sent = 0; // when that was
    let limit = 400;
    let waited = false;
    let timer = null;

    const send = (type, content) => {
      if (socket.readyState !== WebSocket.OPEN) {
        return;
      }
      const id = identifier();
      const header = { msg_id: id, msg_type: type, session: config.id, username: "", version: "5.3", date: new Date().toISOString() };
      socket.send(JSON.stringify({ header, msg_id: id, msg_type: type, parent_header: {}, metadata: {}, content, buffers: [], channel: "shell" }));
    };
    const open = () => {
      comm = identifier();
      send("comm_open", { comm_id: comm, target_name: "gonb_comm", kernel_id: config.kernel, data: {} });
    };
    const sendValue = (to, value) => send("comm_msg", { comm_id: comm, data: { address: to, value } });
    const heard = () => {
      const line = document.getElementById(config.status);
      return line ? Number(line.dataset.heard) : 0;
    };

    // Under Run All the cells below wait for this one; their prompts show a star.
    const waiting = () => {
      const notebook = root.closest(".jp-Notebook");
      const prompts = notebook ? Array.from(notebook.querySelectorAll(".jp-InputPrompt")) : [];
      return prompts.filter((p) => p.textContent.includes("*")).length > 1;
    };
    const sendPositions = (done) => {
      number += 1;
      sent = Date.now();
      waited = waiting();
      sendValue(config.address, JSON.stringify({ number, at: inputs.map((i) => i.valueAsNumber), waiting: waited, done }));
    };
    let later = null;
    const moved = () => {
      if (!later) {
        later = setTimeout(() => {
          later = null;
          sendPositions(false);
        }, Math.max(0, 100 - (Date.now() - sent)));
      }
    };
    const end = (words) => {
      clearInterval(timer);
      status.textContent = words;
      button.disabled = true;
      inputs.forEach((i) => { i.disabled = true; });
      socket.close();
    };
    const poll = () => {
      if (!root.isConnected && !document.getElementById(config.status)) {
        end(""); // the cell is over, its output has taken our place
      } else if (heard() >= number) {
        limit = 400;
        status.textContent = "";
        if (waiting() !== waited) {
          sendPositions(false);
        }
      } else if (limit > 10000) {
        end("not connected any more: run this cell again");
      } else if (Date.now() - sent > limit) {
        // The kernel keeps one channel, and a script of its own may have taken
        // it over: take it back.
        limit *= 1.5;
        status.textContent = limit > 2000 ? "waiting for the cell" : "";
        open();
        setTimeout(() => sendPositions(false), 50);
      }
    };
    socket.onopen = () => {
      open();
      sendPositions(false);
      timer = setInterval(poll, 200);
    };
    socket.onmessage = (event) => {
      const m = typeof event.data === "string" ? JSON.parse(event.data) : {};
      const type = m.msg_type || (m.header && m.header.msg_type);
      if (type === "comm_msg" && m.content.comm_id === comm && m.content.data && m.content.data.address === "#heartbeat/ping") {
        sendValue("#heartbeat/pong", true);
      }
    };
    socket.onclose = () => {
      if (!button.disabled) {
        end("not connected any more: run this cell again");
      }
    };
    inputs.forEach((i) => i.addEventListener("input", moved));
    button.addEventListener("click", () => sendPositions(true));
  };

  begin(60);
})(CONFIG);
