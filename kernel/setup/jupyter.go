// Jupyter's settings, templates, launcher and environment.

package setup

import (
	"context"
	"embed"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/lethe-ml/lethe/lib/files"
	"github.com/lethe-ml/lethe/lib/report"
)

// The template and the filter of nbconvert for the web pages of executed notebooks.
var (
	//go:embed pages/index.html.j2
	pageTemplate string
	//go:embed pages/jupyter_nbconvert_config.py
	pageFilter string
)

// settings are Jupyter's settings: no requests for news or updates, and no language servers
// but the kernel's own. The first completion waits until gopls has read the library, for
// which JupyterLab's default limit of one second is too short.
var settings = map[string]string{
	"config/jupyter_lab_config.json":                  `{"LabApp": {"check_for_updates_class": "jupyterlab.NeverCheckForUpdate", "news_url": null, "extension_manager": "readonly"}}`,
	"config/jupyter_server_config.json":               `{"LanguageServerManager": {"autodetect": false}, "MultiKernelManager": {"default_kernel_name": "` + KernelGo + `"}}`,
	"config/labconfig/page_config.json":               `{"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": true}, "lockedExtensions": {"@jupyterlab/apputils-extension:announcements": true}}`,
	"config/labconfig/default_setting_overrides.json": `{"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": false}, "@jupyterlab/completer-extension:manager": {"providerTimeout": 30000}}`,

	"data/nbconvert/templates/lethe/conf.json":     `{"base_template": "lab"}`,
	"data/nbconvert/templates/lethe/index.html.j2": pageTemplate,
	"config/jupyter_nbconvert_config.py":           pageFilter,
}

// launcher is a JupyterLab extension that opens a new notebook with the usual imports, and makes
// outputs look as on our pages.
//
//go:embed launcher
var launcher embed.FS

// jupyterFiles returns our files of Jupyter, by their paths below its folder.
func jupyterFiles() (map[string]string, error) {
	tree := maps.Clone(settings)
	tree["data/labextensions/lethe-launcher/static/table.js"] = report.TableScript()
	err := fs.WalkDir(launcher, "launcher", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := launcher.ReadFile(name)
		tree["data/labextensions/lethe-"+name] = string(b)
		return err
	})
	tree["data/nbconvert/templates/lethe/looks.css"] = tree["data/labextensions/lethe-launcher/static/looks.css"]
	return tree, err
}

func (m *machine) configure(ctx context.Context) error {
	tree, err := jupyterFiles()
	if err != nil {
		return err
	}
	_, err = m.run(ctx, step{
		stamp: m.jupyter("config") + ".json", inputs: inputsOf(tree),
		intact: func(map[string]string) bool { return isFile(m.jupyter("config/jupyter_lab_config.json")) },
		do:     func(context.Context) (map[string]string, error) { return nil, files.WriteTree(m.jupyter(""), tree) },
	})
	return err
}

// inputsOf returns files as inputs of a step.
func inputsOf(tree map[string]string) (inputs []string) {
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		inputs = append(inputs, name, tree[name])
	}
	return inputs
}

// jupyter returns the path of a file in our Jupyter folder.
func (m *machine) jupyter(name string) string {
	return filepath.Join(m.home, "jupyter", filepath.FromSlash(name))
}

// environment returns the environment of Jupyter and Python processes. They find our
// kernels, and write only into our folder.
func (m *machine) environment() []string {
	bin := filepath.Dir(m.py.path)
	env := setEnv(unsetEnv(os.Environ(), "JUPYTER_NO_CONFIG", "JUPYTER_PLATFORM_DIRS"),
		"PATH="+strings.Join([]string{bin, m.path()}, string(os.PathListSeparator)),
		"JUPYTER_PATH="+joinPath(m.spec, os.Getenv("JUPYTER_PATH")),
		"JUPYTER_CONFIG_DIR="+m.jupyter("config"),
		"JUPYTER_DATA_DIR="+m.jupyter("data"),
		"JUPYTER_RUNTIME_DIR="+m.jupyter("runtime"),
		"JUPYTERLAB_SETTINGS_DIR="+m.jupyter("settings"),
		"JUPYTERLAB_WORKSPACES_DIR="+m.jupyter("workspaces"),
		"IPYTHONDIR="+m.jupyter("ipython"),
		"PYDEVD_DISABLE_FILE_VALIDATION=1",
	)
	if m.options.NoCompletion {
		env = setEnv(env, EnvCompletion+"=off")
	}
	if m.py.borrowedFrom == "" { // the interpreter's own packages and no others
		env = setEnv(unsetEnv(env, "PYTHONPATH", "PYTHONHOME"), "PYTHONNOUSERSITE=1", "VIRTUAL_ENV="+filepath.Dir(bin))
	}
	return env
}

func joinPath(first, rest string) string {
	if rest == "" {
		return first
	}
	return first + string(os.PathListSeparator) + rest
}
