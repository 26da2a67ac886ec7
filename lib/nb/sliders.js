  // The controls of a running cell: they talk to it.

  const build = (root) => {
    root.textContent = "";
    const left = read().values || config.controls.map((form) => form.value);
    let moved = () => {};
    const controls = config.controls.map((form, i) => addControl(root, { ...form, value: left[i] }, () => moved()));
    const button = element("button", {}, "done");
    const status = element("span", { marginLeft: "1em" });
    root.append(button, status);
    moved = talk(root, controls, button, status);
  };

  // read returns what the cell has written into the page: the number of the last message that
  // it has handled, the values of the controls, and the controls where some follow others.
  const read = () => {
    const line = document.getElementById(config.status);
    return line ? JSON.parse(line.dataset.cell) : { heard: 0 };
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

  // talk sends the values of the controls to the cell, and returns what to call when a reader
  // has moved one. What the cell has heard it writes into the page, in the output below the
  // controls: the kernel's way from the cell to a script would bring its own script along each
  // time.
  const talk = (root, controls, button, status) => {
    const socket = new WebSocket(address());
    let comm = "";
    let number = read().heard; // of the last message, of an earlier page too
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

    // Under Run All the cells below wait for this one; their prompts show a star.
    const waiting = () => {
      const notebook = root.closest(".jp-Notebook");
      const prompts = notebook ? Array.from(notebook.querySelectorAll(".jp-InputPrompt")) : [];
      return prompts.filter((p) => p.textContent.includes("*")).length > 1;
    };
    const sendValues = (done) => {
      number += 1;
      sent = Date.now();
      waited = waiting();
      sendValue(config.address, JSON.stringify({ number, values: controls.map((c) => c.value()), waiting: waited, done }));
    };
    let later = null;
    const moved = () => {
      if (!later) {
        later = setTimeout(() => {
          later = null;
          sendValues(false);
        }, Math.max(0, 100 - (Date.now() - sent)));
      }
    };
    const end = (words) => {
      clearInterval(timer);
      status.textContent = words;
      button.disabled = true;
      controls.forEach((c) => c.disable());
      socket.close();
      root.dataset.letheClosed = "true";
      root.dispatchEvent(new Event("lethe-closed")); // the states that the page has take over
    };
    // follow shows the choices of controls that follow others, unless a reader has moved one
    // since: what the cell says of that comes next.
    let shown = "";
    const follow = (forms) => {
      const now = JSON.stringify(forms || null);
      if (forms && now !== shown) {
        shown = now;
        forms.forEach((form, i) => controls[i].follow(form));
      }
    };
    const poll = () => {
      const cell = read();
      if (!root.isConnected && !document.getElementById(config.status)) {
        end(""); // the cell is over, its output has taken our place
      } else if (cell.heard >= number) {
        limit = 400;
        status.textContent = "";
        if (!later) {
          follow(cell.controls);
        }
        if (waiting() !== waited) {
          sendValues(false);
        }
      } else if (limit > 10000) {
        end("not connected any more: run this cell again");
      } else if (Date.now() - sent > limit) {
        // The kernel keeps one channel, and a script of its own may have taken
        // it over: take it back.
        limit *= 1.5;
        status.textContent = limit > 2000 ? "waiting for the cell" : "";
        open();
        setTimeout(() => sendValues(false), 50);
      }
    };
    socket.onopen = () => {
      open();
      sendValues(false);
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
    button.addEventListener("click", () => sendValues(true));
    return moved;
  };

  whenThere(config.id, build);
