  // The controls of a saved notebook: they move among the states that are stored with it.

  // unpack returns the stored states.
  const unpack = async (text) => {
    const bytes = Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
  };

  // outputsAfter returns the places of the outputs below root that show something: those of a
  // notebook, or those that a page has marked. Printed lines and bare scripts do not count.
  const outputsAfter = (root) => {
    const own = root.closest(".jp-OutputArea-child, [data-lethe-output]");
    const all = own ? Array.from(own.parentElement.children) : [];
    return all.slice(all.indexOf(own) + 1).map((child) => (child.dataset.letheOutput === undefined ? child.querySelector(".jp-OutputArea-output") : child)).filter((place) => place && visible(place));
  };

  const visible = (place) => {
    const copy = place.cloneNode(true);
    copy.querySelectorAll("script, style").forEach((hidden) => hidden.remove());
    const printed = (place.dataset.mimeType || "").startsWith("application/vnd.jupyter.std");
    return !printed && (copy.textContent.trim() !== "" || copy.querySelector("img, svg, canvas, table") !== null);
  };

  const fits = (place, kind) => place && (place.dataset.letheOutput || place.dataset.mimeType) === kind && (kind !== "text/html" || place.letheOriginal || place.querySelector("table"));

  // placesOf returns where each part of a state is shown. Others may have shown something before
  // it, such as a bar of progress; then all stand later by as much. On a page whose outputs cannot
  // be found, the place is below the controls.
  const placesOf = (root) => {
    const outputs = outputsAfter(root);
    const shifts = [...outputs.map((_, k) => k), ...outputs.map((_, k) => -k)];
    const moved = (shift) => config.places.map((place) => outputs[place.number - 1 + shift]);
    const shift = shifts.find((by) => moved(by).every((place, k) => fits(place, config.places[k].kind)));
    const found = shift === undefined ? [] : moved(shift);
    found.forEach((place) => { place.letheOriginal = place.letheOriginal || Array.from(place.childNodes); });
    return found;
  };

  const picture = (part) => {
    const made = element("img", { maxWidth: "100%" });
    made.alt = part.alt || "";
    made.src = part.svg ? "data:image/svg+xml;charset=utf-8," + encodeURIComponent(part.svg) : "data:image/png;base64," + part.png;
    if (part.width) {
      made.width = part.width;
    }
    return made;
  };

  const content = (part) => {
    const made = element("div");
    if (part.html) {
      made.className = "jp-RenderedHTMLCommon";
      made.innerHTML = part.html;
    } else {
      made.append(picture(part));
    }
    return made;
  };

  // show puts the parts of a state into their places, and those without one below the controls.
  // The first state is what the places had.
  const show = (state, places, own) => {
    const parts = state.parts || [];
    places.forEach((place, k) => place.replaceChildren(...(state.parts ? parts.slice(k, k + 1).map(content) : place.letheOriginal)));
    own.replaceChildren(...parts.slice(places.length).map(content));
  };

  // nearest returns the state in which control i has its wanted value and the others come
  // nearest to theirs. A control that follows others keeps those before it, if it can.
  const nearest = (states, forms, wanted, i) => {
    const apart = (state, k) => {
      const steps = Math.abs(forms[k].values.indexOf(state.at[k]) - forms[k].values.indexOf(wanted[k]));
      return steps === 0 ? 0 : (k < i && forms[i].follows ? 1000 : 1) + steps / forms[k].values.length;
    };
    const cost = (state) => forms.reduce((sum, _, k) => sum + apart(state, k), 0);
    return states.filter((state) => state.at[i] === wanted[i]).sort((a, b) => cost(a) - cost(b))[0];
  };

  // formsAt returns the controls as they stand in a state. One that follows others offers the
  // values that it has beside their present ones.
  const formsAt = (states, state) => config.controls.map((form, i) => {
    const agrees = (other) => other.at.slice(0, i).every((value, k) => value === state.at[k]);
    const kept = form.values.map((value) => !form.follows || states.some((other) => agrees(other) && other.at[i] === value));
    return { ...form, value: state.at[i], values: form.values.filter((_, v) => kept[v]), labels: form.labels.filter((_, v) => kept[v]) };
  });

  const start = (root, states) => {
    let places = null; // found when a reader moves a control: then all outputs are on the page
    root.textContent = "";
    const wanted = states[0].at.slice();
    const named = (values) => config.controls.map((form, i) => form.name + " = " + form.labels[form.values.indexOf(values[i])]).join(", ");
    const moved = (control) => {
      const i = controls.indexOf(control);
      wanted[i] = control.value();
      const state = nearest(states, config.controls, wanted, i);
      const exact = state.at.every((value, k) => value === wanted[k]);
      places = places || placesOf(root);
      show(state, places, own);
      formsAt(states, state).forEach((form, k) => controls[k].set(form));
      status.textContent = (exact ? "Stored state " + (states.indexOf(state) + 1) + " of " + states.length + ": " : "The nearest of " + states.length + " stored states: ") + named(state.at) + ".";
    };
    // A text is chosen among the stored ones: no other can be drawn here.
    const controls = formsAt(states, states[0]).map((form) => addControl(root, form, moved));
    controls.forEach((control, i) => config.controls[i].values.length < 2 && control.disable());
    const status = element("p", { margin: "0.2em 0" }, states.length + " states are stored with this page. Run the cell for all others.");
    status.setAttribute("aria-live", "polite");
    const own = element("div");
    root.append(status, own);
    // A page that has put this element aside and takes it back begins with what was stored.
    if (outputsAfter(root).some((place) => place.letheOriginal)) {
      places = placesOf(root);
      show(states[0], places, own);
    }
  };

  config.controls.forEach((form) => { form.kind = form.kind === "text" ? "dropdown" : form.kind; });
  const begin = (root) => unpack(config.states).then((states) => start(root, states)).catch(() => {});
  // While the controls of a running cell work, those of its states wait.
  whenThere(config.id, (root) => {
    const live = document.getElementById(config.live);
    if (!live) {
      begin(root);
      return;
    }
    const takeOver = () => {
      live.replaceChildren();
      root.previousElementSibling?.replaceChildren(); // what the cell said last
      begin(root);
    };
    if (live.dataset.letheClosed) {
      takeOver();
    } else {
      live.addEventListener("lethe-closed", takeOver);
    }
  });
