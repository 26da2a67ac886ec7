package setup

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/lethe-ml/lethe/kernel/internal/onestep"
)

// settings are Jupyter's files that make it quiet: it asks nobody for news or
// new versions, and looks for no language servers but the kernel's own.
var settings = map[string]string{
	"jupyter_lab_config.json":    `{"LabApp": {"check_for_updates_class": "jupyterlab.NeverCheckForUpdate", "news_url": null, "extension_manager": "readonly"}}`,
	"jupyter_server_config.json": `{"LanguageServerManager": {"autodetect": false}, "MultiKernelManager": {"default_kernel_name": "` + KernelGo + `"}}`,
	"labconfig/page_config.json": `{"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": true}, "lockedExtensions": {"@jupyterlab/apputils-extension:announcements": true}}`,
	"labconfig/default_setting_overrides.json": `{"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": false}, ` +
		// The first Tab waits until the language server has read the library; by default JupyterLab stops waiting after a second.
		`"@jupyterlab/completer-extension:manager": {"providerTimeout": 30000}}`,
}

// configure writes Jupyter's settings.
func (m *machine) configure(ctx context.Context) error {
	dir := m.jupyter("config")
	var inputs []string
	for _, name := range []string{"jupyter_lab_config.json", "jupyter_server_config.json", "labconfig/page_config.json",
		"labconfig/default_setting_overrides.json"} {
		inputs = append(inputs, name, settings[name])
	}
	_, err := m.run(ctx, step{
		stamp: dir + ".json", inputs: inputs,
		there: func(map[string]string) bool { return isFile(filepath.Join(dir, "jupyter_lab_config.json")) },
		do: func(context.Context) (map[string]string, error) {
			for name, content := range settings {
				path := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					return nil, err
				}
				if err := onestep.File(path, []byte(content+"\n")); err != nil {
					return nil, err
				}
			}
			return nil, nil
		},
	})
	return err
}

// jupyter is a folder of Jupyter's, inside ours.
func (m *machine) jupyter(name string) string { return filepath.Join(m.home, "jupyter", name) }

// environment is that of Jupyter and Python processes: they find our kernels,
// and keep everything of theirs in our folder.
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
	if m.o.NoCompletion {
		env = setEnv(env, EnvCompletion+"=off")
	}
	if m.py.lender == "" { // the interpreter's own packages and no others
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
