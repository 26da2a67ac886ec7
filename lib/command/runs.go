// lethe runs: listing, verifying, signing, merging and pruning the store.

package command

import (
	"bufio"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lethe-ml/lethe/lib/cli"
	"github.com/lethe-ml/lethe/lib/files"
	"github.com/lethe-ml/lethe/lib/progress"
	"github.com/lethe-ml/lethe/lib/store"

	"github.com/spf13/cobra"
)

func newRuns() *cobra.Command {
	c := &cobra.Command{
		Use:   "runs",
		Short: "Show, verify, merge and prune the store of computed results",
		Long: `Show, verify, merge and prune the store of computed results.

Every result is kept under the hash of everything it depends on, so that nothing is
computed twice. The store is the folder given by --store, by the variable LETHE_STORE,
or lethe/runs in the user's cache folder. A read-only store can be listed, shown,
verified and used.

The hashes guard against damage, not against malice: a person who can write to the
store can change a file together with its hash. Signatures guard against that.`,
		Example: "  lethe runs\n  lethe runs show 3f9c\n  lethe runs verify\n  lethe runs sign --key key.pem\n" +
			"  lethe runs merge runs other/runs\n  lethe runs prune --dry-run",
	}
	c.AddCommand(addListing(&cobra.Command{
		Use: "list", Short: "What is in the store, with sizes", Args: cobra.NoArgs,
		Example: "  lethe runs list\n  lethe runs list --json",
	}), newRunsShow(), newRunsVerify(), newRunsSign(), newRunsMerge(), newRunsPrune())
	return cli.Group(addListing(c))
}

type runJSON struct {
	ID      string      `json:"id"`
	State   store.State `json:"state"`
	Recipe  string      `json:"recipe"`
	Files   int         `json:"files"`
	Bytes   int64       `json:"bytes"`
	Created time.Time   `json:"created"`
	Dir     string      `json:"dir"`
	Problem string      `json:"problem,omitempty"`
	Key     *store.Key  `json:"key,omitempty"`
}

func newRunJSON(e store.Entry) runJSON {
	return runJSON{ID: e.ID, State: e.State, Recipe: e.Key.Recipe, Files: e.Files, Bytes: e.Bytes, Created: e.Created.UTC().Truncate(time.Second),
		Dir: e.Dir, Problem: e.Problem}
}

// listStore lists a store; one that does not exist is empty.
func listStore(cmd *cobra.Command, dir string) (*store.Store, []store.Entry, error) {
	s, err := existingStore(cmd, dir)
	if s == nil || err != nil {
		return nil, nil, err
	}
	all, err := s.List()
	return s, all, err
}

// addListing makes a command list a store.
func addListing(c *cobra.Command) *cobra.Command {
	dir := storeFlag(c)
	cli.AnswerWith(c, func(cmd *cobra.Command, _ []string) (cli.Answer, error) {
		s, all, err := listStore(cmd, *dir)
		value, t := []runJSON{}, textTable("", "id", "state", "recipe", "files", "size", "made (UTC)")
		for _, e := range all {
			value = append(value, newRunJSON(e))
			made := e.Created.UTC().Format("2006-01-02 15:04")
			t.Rows = append(t.Rows, textRow(shortID(e.ID), string(e.State), cli.Printable(e.Key.Recipe), fmt.Sprint(e.Files), cli.Bytes(e.Bytes), made))
		}
		text := func(w io.Writer) error {
			if s == nil {
				return nil
			}
			if len(all) > 0 {
				if err := t.Text(w); err != nil {
					return err
				}
			}
			_, err := fmt.Fprintf(w, "%d entries, %s, in %s\n", len(all), totalSize(all), s.Dir())
			return err
		}
		return cli.Answer{Value: value, Text: text}, err
	})
	return c
}

func totalSize(all []store.Entry) string {
	var total int64
	for _, e := range all {
		total += e.Bytes
	}
	return cli.Bytes(total)
}

// shortID returns the part of an ID that is shown.
func shortID(id string) string { return cli.Printable(id[:min(12, len(id))]) }

// selectRuns finds the entry that begins with each of the given IDs.
func selectRuns(all []store.Entry, ids []string) (out []store.Entry, err error) {
	for _, id := range ids {
		found := slices.DeleteFunc(slices.Clone(all), func(e store.Entry) bool { return !strings.HasPrefix(e.ID, id) })
		switch len(found) {
		case 0:
			return nil, fmt.Errorf("no run begins with %q; lethe runs lists them", id)
		case 1:
			out = append(out, found[0])
		default:
			return nil, fmt.Errorf("%d runs begin with %q; give more of the ID", len(found), id)
		}
	}
	return out, nil
}

func newRunsShow() *cobra.Command {
	c := &cobra.Command{
		Use: "show ID", Short: "What a run was computed from, and its files",
		Long:    "What a run was computed from, and its files. The first digits of its ID suffice.",
		Example: "  lethe runs show 3f9c\n  lethe runs show 3f9c --json", Args: cobra.ExactArgs(1),
	}
	dir := storeFlag(c)
	cli.AnswerWith(c, func(cmd *cobra.Command, args []string) (cli.Answer, error) {
		_, all, err := listStore(cmd, *dir)
		if err != nil {
			return cli.Answer{}, err
		}
		found, err := selectRuns(all, args)
		if err != nil {
			return cli.Answer{}, err
		}
		r := newRunJSON(found[0])
		r.Key = &found[0].Key
		return cli.Answer{Value: r, Text: func(w io.Writer) error { return printRun(w, found[0]) }}, nil
	})
	return c
}

func printRun(w io.Writer, e store.Entry) error {
	fmt.Fprintf(w, "id       %s\nstate    %s\nfolder   %s\nsize     %s in %d files\nmade     %s\n",
		cli.Printable(e.ID), e.State, cli.Printable(e.Dir), cli.Bytes(e.Bytes), e.Files, e.Created.UTC().Format(time.DateTime+" UTC"))
	if e.Problem != "" {
		fmt.Fprintf(w, "problem  %s\n", cli.Printable(e.Problem))
	}
	there, err := files.List(e.Dir, "", "")
	if err != nil {
		return err
	}
	for _, f := range there {
		if info, err := os.Lstat(f); err == nil && !info.IsDir() {
			fmt.Fprintf(w, "file     %s (%s)\n", cli.Printable(filepath.Base(f)), cli.Bytes(info.Size()))
		}
	}
	if e.Key.Recipe == "" {
		return nil
	}
	key, err := json.MarshalIndent(e.Key, "", "  ")
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "key      %s\n", key)
	return nil
}

type checkedJSON struct {
	ID      string `json:"id"`
	OK      bool   `json:"ok"`
	Problem string `json:"problem,omitempty"`
}

func newRunsVerify() *cobra.Command {
	c := &cobra.Command{
		Use: "verify [ID...]", Short: "Hash every file of the runs and compare with their manifests",
		Long: `Hash every file of all finished runs, or of those named, and compare with their
manifests. Nothing is changed.

With --key, every run must also be in the list signed by lethe runs sign, with the
same manifest. Without IDs, every run of that list must exist. An older list of the
same signer, restored together with the older runs, passes.`,
		Example: "  lethe runs verify\n  lethe runs verify 3f9c --json\n  lethe runs verify --key public.pem", Args: cobra.ArbitraryArgs,
	}
	dir, in := storeFlag(c), inputs{c: c}
	var key ed25519.PublicKey
	addFile(&in, &key, "key", "PEM file: the Ed25519 key that signed the runs, its public half or the whole key", keyReader(store.PublicKey))
	cli.AnswerWith(c, func(cmd *cobra.Command, ids []string) (cli.Answer, error) {
		s, all, err := listStore(cmd, *dir)
		if err != nil {
			return cli.Answer{}, err
		}
		if _, err := in.read(); err != nil {
			return cli.Answer{}, err
		}
		verify, state, why := s.Verify, "damaged", "they are never used, and computed again when they are needed"
		if key != nil {
			if s == nil {
				return cli.Answer{}, errors.New("--key: there is no store, so nothing is signed")
			}
			list, err := s.Signed(key)
			if err != nil {
				return cli.Answer{}, err
			}
			verify = func(id string) error { return s.VerifySigned(id, list) }
			state, why = "not as signed", "they were changed, added or removed without the key, or after the last signing"
			if len(ids) == 0 {
				all = withMissing(all, list)
			}
		}
		if len(ids) > 0 {
			if all, err = selectRuns(all, ids); err != nil {
				return cli.Answer{}, err
			}
		}
		checked, err := verifyRuns(cmd, all, verify)
		if err != nil {
			return cli.Answer{}, err
		}
		var text strings.Builder
		n := 0
		for _, r := range checked {
			if !r.OK {
				n++
				fmt.Fprintf(&text, "%s %s: %s\n", shortID(r.ID), state, cli.Printable(r.Problem))
			}
		}
		fmt.Fprintf(&text, "%d runs checked, %d %s\n", len(checked), n, state)
		a := cli.Answer{Value: checked, Text: cli.PrintText(&text)}
		if n > 0 {
			a.Err = fmt.Errorf("%d of %d runs are %s; %s", n, len(checked), state, why)
		}
		return a, nil
	})
	return c
}

// maxKeyBytes bounds the size of a key file.
const maxKeyBytes = 1 << 16

// keyReader reads a key file; errors name the file.
func keyReader[K any](parse func([]byte) (K, error)) func(path string) (K, error) {
	return func(path string) (key K, err error) {
		text, err := files.Read(path, maxKeyBytes)
		if err != nil {
			return key, err
		}
		if key, err = parse(text); err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
		return key, err
	}
}

// withMissing adds signed runs that are missing in the store, so that they are checked.
func withMissing(all []store.Entry, list *store.Signed) []store.Entry {
	there := map[string]bool{}
	for _, e := range all {
		there[e.ID] = there[e.ID] || e.State == store.Finished || e.State == store.Damaged
	}
	for _, id := range list.IDs() {
		if !there[id] {
			all = append(all, store.Entry{ID: id, State: store.Finished})
		}
	}
	return all
}

func newRunsSign() *cobra.Command {
	c := &cobra.Command{
		Use: "sign --key FILE", Short: "Sign the list of all finished runs",
		Long: `Verify all finished runs and sign the list of their IDs and manifests' hashes, which
cover every file. The list with its signature is signed.json in the store; lethe runs
verify --key checks it. Later runs are not signed until you sign again.

The key is your own Ed25519 key as PKCS #8 in PEM. Do not keep it in the store, and
give others the public half:

  openssl genpkey -algorithm ed25519 -out key.pem
  openssl pkey -in key.pem -pubout -out public.pem`,
		Example: "  lethe runs sign --key key.pem\n  lethe runs verify --key public.pem", Args: cobra.NoArgs,
	}
	dir, in := storeFlag(c), inputs{c: c}
	var key ed25519.PrivateKey
	addFile(&in, &key, "key", "PEM file with your private Ed25519 key", keyReader(store.PrivateKey))
	requireFlags(c, "key")
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if _, err := in.read(); err != nil {
			return err
		}
		s, err := existingStore(cmd, *dir)
		if s == nil || err != nil {
			return err
		}
		n, err := s.Sign(key)
		if err == nil {
			fmt.Fprintf(cmd.OutOrStdout(), "%d runs signed\n", n)
		}
		return err
	}
	return c
}

func verifyRuns(cmd *cobra.Command, all []store.Entry, verify func(id string) error) ([]checkedJSON, error) {
	_, task := progress.StartUnits(cmd.Context(), "verifying runs", int64(len(all)), "runs")
	defer task.Done()
	checked := []checkedJSON{}
	for _, e := range all {
		task.Add(1)
		if err := cmd.Context().Err(); err != nil {
			return nil, err
		}
		if e.State != store.Finished && e.State != store.Damaged {
			continue
		}
		r := checkedJSON{ID: e.ID, Problem: e.Problem}
		if r.Problem == "" {
			if err := verify(e.ID); err != nil {
				r.Problem = err.Error()
			}
		}
		r.OK = r.Problem == ""
		checked = append(checked, r)
	}
	return checked, nil
}

func newRunsPrune() *cobra.Command {
	c := &cobra.Command{
		Use:   "prune [ID...]",
		Short: "Delete runs that are no longer of use",
		Long: `Delete runs: without flags the damaged ones and those in quarantine; flags and IDs
choose others instead. Runs that are being computed are never deleted.

Deleted results are computed again when they are needed. The command asks before it
deletes, unless --yes is given; --dry-run only shows what it would delete.`,
		Example: `  lethe runs prune --dry-run
  lethe runs prune --older-than 720h
  lethe runs prune --recipe train --yes
  lethe runs prune 3f9c`,
		Args: cobra.ArbitraryArgs,
	}
	f := c.Flags()
	everything := f.Bool("all", false, "everything in the store")
	unfinished := f.Bool("unfinished", false, "interrupted computations, which could be resumed")
	olderThan := f.Duration("older-than", 0, "entries older than this, for instance 720h")
	recipe := f.String("recipe", "", "runs of this recipe, for instance train")
	dryRun := f.Bool("dry-run", false, "show what would be deleted and delete nothing")
	yes := f.Bool("yes", false, "do not ask")
	dir := storeFlag(c)
	for _, other := range []string{"unfinished", "older-than", "recipe"} {
		c.MarkFlagsMutuallyExclusive("all", other)
	}
	c.RunE = func(cmd *cobra.Command, ids []string) error {
		if *olderThan < 0 {
			return cli.Usagef("--older-than %v: expected a positive duration", *olderThan)
		}
		s, all, err := listStore(cmd, *dir)
		if s == nil || err != nil {
			return err
		}
		if len(ids) > 0 {
			if all, err = selectRuns(all, ids); err != nil {
				return err
			}
		}
		plain := len(ids) == 0 && !*unfinished && *recipe == "" && *olderThan == 0
		kept := func(e store.Entry) bool {
			return plain && e.State != store.Damaged && e.State != store.Quarantined ||
				*unfinished && e.State != store.Unfinished ||
				*recipe != "" && e.Key.Recipe != *recipe ||
				*olderThan > 0 && time.Since(e.Created) < *olderThan
		}
		if !*everything {
			all = slices.DeleteFunc(all, kept)
		}
		return prune(cmd, s, all, *dryRun, *yes)
	}
	return c
}

func prune(cmd *cobra.Command, s *store.Store, chosen []store.Entry, dryRun, yes bool) error {
	w := cmd.OutOrStdout()
	var ids []string
	for _, e := range chosen {
		ids = append(ids, e.ID)
		fmt.Fprintf(w, "%s  %s  %s  %s\n", shortID(e.ID), e.State, cli.Bytes(e.Bytes), cli.Printable(e.Key.Recipe))
	}
	if len(chosen) == 0 || dryRun {
		fmt.Fprintf(w, "%d entries, %s; nothing was deleted\n", len(chosen), totalSize(chosen))
		return nil
	}
	if !yes {
		fmt.Fprintf(cmd.ErrOrStderr(), "delete %d entries, %s? [y/N] ", len(chosen), totalSize(chosen))
		resume := progress.Pause()
		answer, _ := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
		resume()
		if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
			return errors.New("nothing was deleted; answer y, or give --yes")
		}
	}
	dropped, err := s.Prune(func(e store.Entry) bool { return slices.Contains(ids, e.ID) })
	fmt.Fprintf(w, "%d entries deleted, %s free\n", len(dropped), totalSize(dropped))
	return err
}

func newRunsMerge() *cobra.Command {
	c := &cobra.Command{
		Use: "merge INTO FROM...", Short: "Copy the finished runs of other stores into one",
		Long: `Copy the finished runs of other stores into the first one, and hash every file.
Damaged runs are left out and listed. A run that both stores have must have the same
bytes in both. If not, something that changes a result is missing in its key, and both
folders are listed.`,
		Example: "  lethe runs merge runs other/runs\n  lethe runs merge all node1/runs node2/runs", Args: cobra.MinimumNArgs(2),
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		for _, from := range args[1:] {
			if !store.Exists(from) {
				return fmt.Errorf("there is no store in %s", from)
			}
		}
		to, err := openStore(cmd, args[0])
		if err != nil {
			return err
		}
		var problems []error
		for _, from := range args[1:] {
			s, err := openStore(cmd, from)
			if err != nil {
				return err
			}
			m, err := to.Merge(cmd.Context(), s)
			if err != nil {
				return err
			}
			problems = append(problems, printMerged(cmd, to, m))
		}
		return errors.Join(problems...)
	}
	return c
}

// printMerged prints what was merged, and returns the refused runs as the error.
func printMerged(cmd *cobra.Command, to *store.Store, m store.Merged) error {
	fmt.Fprintf(cmd.OutOrStdout(), "%d runs added (%s), %d were there with the same bytes, %d refused, in %s\n", m.Added, cli.Bytes(m.Bytes), m.Same,
		len(m.Refused), to.Dir())
	return errors.Join(m.Refused...)
}
