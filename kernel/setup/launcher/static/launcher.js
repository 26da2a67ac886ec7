// An entry in JupyterLab's launcher that opens a notebook with what a Go cell
// needs, and the looks of outputs: the style sheet looks.css, and the script that
// sorts tables also in a notebook that is not trusted. It is what a build of an extension would make of this one entry, written
// by hand so that nobody needs the build.
(() => {
  const here = new URL(".", document.currentScript.src);
  const command = "lethe:new-notebook";

  // add loads a file of ours into the page.
  function add(tag, attributes) {
    document.head.append(Object.assign(document.createElement(tag), attributes));
  }
  add("link", { rel: "stylesheet", href: new URL("looks.css", here).href });
  add("script", { src: new URL("table.js", here).href });

  // newNotebook makes an untitled notebook out of the template and opens it.
  async function newNotebook(app, folder) {
    const content = await (await fetch(new URL("template.ipynb", here))).json();
    const { contents } = app.serviceManager;
    const file = await contents.newUntitled({ path: folder ?? "", type: "notebook" });
    await contents.save(file.path, { type: "notebook", format: "json", content });
    return app.commands.execute("docmanager:open", { path: file.path, factory: "Notebook" });
  }

  function plugin(launcherToken) {
    return {
      id: "lethe-launcher:plugin",
      autoStart: true,
      optional: [launcherToken],
      activate: (app, launcher) => {
        app.commands.addCommand(command, {
          label: "Lethe notebook",
          caption: "A notebook with an import cell and a cell that runs",
          iconClass: "jp-NotebookIcon", // of the section, which shows the icon of its first entry
          execute: (args) => newNotebook(app, args.cwd),
        });
        launcher?.add({ command, category: "Notebook", rank: -1, kernelIconUrl: new URL("new-notebook.svg", here).href });
      },
    };
  }

  let shared; // what JupyterLab lends to extensions, by package and version
  window._JUPYTERLAB = window._JUPYTERLAB ?? {};
  window._JUPYTERLAB["lethe-launcher"] = {
    init: (scope) => {
      shared = scope;
    },
    get: async () => {
      const launcher = await Object.values(shared["@jupyterlab/launcher"])[0].get();
      return () => ({ __esModule: true, default: plugin(launcher().ILauncher) });
    },
  };
})();
