  // What the controls of a running cell and those of a saved page have in common.

  // whenThere calls build with the place for the controls. The page may hold it only a
  // moment after this runs.
  const whenThere = (id, build, tries = 60) => {
    const root = document.getElementById(id);
    if (root) {
      build(root);
    } else if (tries > 0) {
      setTimeout(() => whenThere(id, build, tries - 1), 50);
    }
  };

  const element = (tag, style, text) => {
    const made = document.createElement(tag);
    Object.assign(made.style, style);
    made.textContent = text || "";
    return made;
  };

  // A part knows how to make the input of its kind of control, which event says that a reader
  // has moved it, how to read its value and how to set it to a form.
  const parts = {
    slider: {
      make: () => Object.assign(element("input", { width: "16em" }), { type: "range", min: 0 }),
      event: "input",
      read: (input, form) => form.values[input.valueAsNumber],
      set: (input, form) => {
        input.max = form.values.length - 1;
        input.value = Math.max(0, form.values.indexOf(form.value));
      },
    },
    dropdown: {
      make: () => element("select", { minWidth: "8em" }),
      event: "change",
      read: (input, form) => form.values[input.selectedIndex],
      set: (input, form) => {
        input.replaceChildren(...form.labels.map((label) => element("option", {}, label)));
        input.selectedIndex = Math.max(0, form.values.indexOf(form.value));
      },
    },
    checkbox: {
      make: () => Object.assign(element("input", {}), { type: "checkbox" }),
      event: "change",
      read: (input) => input.checked,
      set: (input, form) => { input.checked = form.value; },
    },
    text: {
      make: () => Object.assign(element("input", { width: "16em" }), { type: "text", maxLength: 1000 }),
      event: "change",
      read: (input) => input.value,
      set: (input, form) => { input.value = form.value; },
    },
  };

  // addControl appends a control to root. moved is called when a reader has moved it.
  const addControl = (root, form, moved) => {
    const part = parts[form.kind];
    const line = element("label", { display: "block" });
    const input = part.make();
    input.style.verticalAlign = "middle";
    input.setAttribute("aria-label", form.name);
    input.dataset.lmSuppressShortcuts = "true"; // JupyterLab has a command for most keys
    const label = element("output", { marginLeft: "1em" });
    const say = () => {
      if (form.kind === "slider") {
        label.textContent = form.labels[input.valueAsNumber];
        input.setAttribute("aria-valuetext", label.textContent);
      }
    };
    let typing = false; // a text that the cell has not been told yet
    const told = () => {
      typing = false;
      moved(control);
    };
    const control = {
      value: () => part.read(input, form),
      set: (next) => {
        form = next;
        part.set(input, form);
        say();
      },
      // follow is set, but for a text in which a reader is writing, and for what is shown already.
      follow: (next) => {
        if (!typing && JSON.stringify({ ...form, value: control.value() }) !== JSON.stringify(next)) {
          control.set(next);
        }
      },
      disable: () => { input.disabled = true; },
    };
    control.set(form);
    input.addEventListener("input", () => {
      typing = form.kind === "text";
      say();
    });
    input.addEventListener(part.event, told);
    input.addEventListener("keydown", (event) => { // JupyterLab keeps the Enter of a text to itself
      if (form.kind === "text" && event.key === "Enter") {
        event.stopPropagation();
        told();
      }
    });
    line.append(element("span", { display: "inline-block", minWidth: "10em" }, form.name + " "), input, label);
    root.append(line);
    return control;
  };
