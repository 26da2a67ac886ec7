// The part of a key that describes code from outside Lethe's module.

package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"maps"
	"os"
	"reflect"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
)

// A key names what a result is made of: "scrub", version 2. That suffices for code of
// Lethe, whose version number rises when it changes. Code of others (a method, a network,
// a loss, a measurement) can change under the same name. So a key has a line for every
// value whose type is from outside Lethe's module, and for every such function, anywhere
// in the configuration: the type, the hash of all its fields (also unexported ones), and
// what the code was built from.

// modulePath is the module whose code is identified by its version numbers.
const modulePath = "github.com/lethe-ml/lethe"

// CodeOf describes the code from outside Lethe that values use, one line each: the values'
// own types, and those of their fields, interfaces, elements and pointers. It is empty if
// everything is from Lethe or the standard library.
//
// Code of a module with a version and a checksum is identified by these, with the checksums
// of all other modules of the program. Other code, of the main module or of a local folder,
// is identified by the SHA-256 of the running program.
//
// It fails for a function literal inside a value, because what that captures is unknown,
// and where the program's file cannot be read.
func CodeOf(values ...any) ([]string, error) {
	w := codeWalk{seen: map[pointee]bool{}}
	for _, v := range values {
		if f := reflect.ValueOf(v); f.Kind() == reflect.Func && !f.IsNil() {
			w.addLine(functionPackage(f), functionName(f), "")
			continue
		}
		w.addValue("", reflect.ValueOf(v))
	}
	if w.err != nil {
		return nil, w.err
	}
	return w.lines, nil
}

// codeWalk collects the lines of CodeOf.
type codeWalk struct {
	lines []string
	seen  map[pointee]bool
	err   error
}

// pointee is a value that a pointer leads to.
type pointee struct {
	address uintptr
	typ     reflect.Type
}

// addLine adds the line of something defined in a package, if that is external.
func (w *codeWalk) addLine(pkg, name, content string) {
	if w.err != nil || !isExternal(pkg) {
		return
	}
	built, err := runningProgram().origin(pkg)
	if err != nil {
		w.err = fmt.Errorf("%s is defined outside Lethe, and what it was built from is not known: %w", name, err)
		return
	}
	w.lines = append(w.lines, strings.Join(slices.DeleteFunc([]string{name, content, built}, func(s string) bool { return s == "" }), " "))
}

// addValue adds the lines of a value at a path.
func (w *codeWalk) addValue(path string, v reflect.Value) {
	if w.err != nil || !v.IsValid() || holdsNoExternal(v.Type()) {
		return
	}
	if v.Kind() == reflect.Interface { // has no code of its own
		w.addValue(path, v.Elem())
		return
	}
	w.addType(path, v)
	switch v.Kind() {
	case reflect.Pointer:
		here := pointee{v.Pointer(), v.Type()}
		if !v.IsNil() && !w.seen[here] {
			w.seen[here] = true
			w.addValue(path, v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			w.addValue(path+"."+v.Type().Field(i).Name, v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			w.addValue(fmt.Sprintf("%s[%d]", path, i), v.Index(i))
		}
	case reflect.Map:
		for _, k := range sortedKeys(v) {
			w.addValue(path+"[key]", k)
			w.addValue(fmt.Sprintf("%s[%s]", path, hashContent(k)[:8]), v.MapIndex(k))
		}
	case reflect.Func:
		w.addFunction(path, v)
	}
}

// addType adds the lines of a value's type and of its type arguments.
func (w *codeWalk) addType(path string, v reflect.Value) {
	t := v.Type()
	for _, pkg := range definingPackages(t) {
		if isExternal(pkg) {
			w.addLine(pkg, strings.TrimSpace(path+" "+fullName(t)), hashContent(v))
		}
	}
}

// literalPattern matches the names of functions that may capture variables.
var literalPattern = regexp.MustCompile(`\.func\d+(\.\d+)*$|\.gowrap\d+$|-fm$|-range\d+$`)

func (w *codeWalk) addFunction(path string, v reflect.Value) {
	if v.IsNil() || !isExternal(functionPackage(v)) {
		return
	}
	name := functionName(v)
	if literalPattern.MatchString(name) {
		w.err = fmt.Errorf("the function literal %s in %s: what it captures is not known, so a result cannot be kept under a key; "+
			"use a named function, or a struct with fields", name, strings.TrimPrefix(path, "."))
		return
	}
	w.addLine(functionPackage(v), strings.TrimSpace(path+" "+name), "")
}

func functionName(v reflect.Value) string {
	if f := runtime.FuncForPC(v.Pointer()); f != nil {
		return f.Name()
	}
	return "main.unknown"
}

// functionPackage returns the path of a function's package.
func functionPackage(v reflect.Value) string { return packageOf(functionName(v)) }

// packageOf returns the package path of a symbol: "a.b/c" of "a.b/c.(*T).M".
func packageOf(name string) string {
	name, _, _ = strings.Cut(name, "[")
	slash := strings.LastIndex(name, "/") + 1
	end, _, _ := strings.Cut(name[slash:], ".")
	return strings.ReplaceAll(name[:slash]+end, "%2e", ".")
}

// holdsNoExternal reports whether no value of a type can hold anything external.
func holdsNoExternal(t reflect.Type) bool { return holdsNoExternalSeen(t, map[reflect.Type]bool{}) }

func holdsNoExternalSeen(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return true
	}
	seen[t] = true
	if slices.ContainsFunc(definingPackages(t), isExternal) {
		return false
	}
	switch t.Kind() {
	case reflect.Interface, reflect.Func:
		return false
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return holdsNoExternalSeen(t.Elem(), seen)
	case reflect.Map:
		return holdsNoExternalSeen(t.Key(), seen) && holdsNoExternalSeen(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if !holdsNoExternalSeen(t.Field(i).Type, seen) {
				return false
			}
		}
	}
	return true
}

// fullName returns a type's name with the path of its package.
func fullName(t reflect.Type) string {
	if t.PkgPath() == "" {
		return t.String()
	}
	return t.PkgPath() + "." + t.Name()
}

// argumentPattern matches a type argument in the name of a generic type.
var argumentPattern = regexp.MustCompile(`[^\[\],\s*(){};]+\.[^\[\],\s*(){};]+`)

// definingPackages returns the packages of a named type and of its type arguments.
func definingPackages(t reflect.Type) []string {
	if t.PkgPath() == "" {
		return nil
	}
	out := []string{t.PkgPath()}
	if _, arguments, generic := strings.Cut(t.Name(), "["); generic {
		for _, a := range argumentPattern.FindAllString(arguments, -1) {
			out = append(out, packageOf(a))
		}
	}
	return out
}

// standardFolders are the top folders of the standard library.
var standardFolders = strings.Fields("archive arena bufio builtin bytes cmp compress container context crypto database debug embed encoding errors " +
	"expvar flag fmt go hash html image index internal io iter log maps math mime net os path plugin reflect regexp runtime simd slices sort " +
	"strconv strings structs sync syscall testing text time unicode unique unsafe vendor weak")

// isExternal reports whether a package is neither Lethe's nor the standard library's. Test
// packages and main packages are external.
func isExternal(pkg string) bool {
	root, _, _ := strings.Cut(pkg, "/")
	switch {
	case pkg == "":
		return false
	case pkg == modulePath || strings.HasPrefix(pkg, modulePath+"/"):
		return strings.HasSuffix(pkg, "_test")
	case slices.Contains(standardFolders, root):
		_, owned := runningProgram().moduleOf(pkg)
		return owned
	}
	return true
}

// buildInfo is what is known of the running program.
type buildInfo struct {
	modules    []debug.Module // under their own paths, with the version of their replacement
	pinned     string         // hash of all modules but Lethe's, "" where one has no sum
	executable func() (string, error)
}

var runningProgram = sync.OnceValue(func() buildInfo {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return newBuildInfo(info, sync.OnceValues(hashOfProgram))
})

func newBuildInfo(info *debug.BuildInfo, executable func() (string, error)) buildInfo {
	b := buildInfo{executable: executable}
	h, all := sha256.New(), true
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		actual := *m
		if m.Replace != nil {
			actual = *m.Replace
		}
		b.modules = append(b.modules, debug.Module{Path: m.Path, Version: actual.Path + "@" + actual.Version, Sum: actual.Sum})
		if m.Path == modulePath || m == &info.Main && m.Sum == "" {
			continue
		}
		all = all && actual.Sum != ""
		fmt.Fprintln(h, m.Path, actual.Path, actual.Version, actual.Sum)
	}
	if all {
		b.pinned = hex.EncodeToString(h.Sum(nil))
	}
	return b
}

// moduleOf returns the module of a package.
func (b buildInfo) moduleOf(pkg string) (m debug.Module, ok bool) {
	for _, one := range b.modules {
		if one.Path != "" && (pkg == one.Path || strings.HasPrefix(pkg, one.Path+"/")) && len(one.Path) > len(m.Path) {
			m, ok = one, true
		}
	}
	return m, ok
}

// origin returns what the code of a package was built from. It covers all modules, because
// the code may call any of them.
func (b buildInfo) origin(pkg string) (string, error) {
	if m, ok := b.moduleOf(pkg); ok && pkg != "main" && m.Path != modulePath && m.Sum != "" && b.pinned != "" {
		return fmt.Sprintf("of %s %s among modules %s", m.Version, m.Sum, b.pinned), nil
	}
	hash, err := b.executable()
	return "of program " + hash, err
}

// hashOfProgram returns the SHA-256 of the running program's file, even where another file
// has taken its name since.
func hashOfProgram() (string, error) {
	path := "/proc/self/exe"
	if _, err := os.Stat(path); err != nil {
		if path, err = os.Executable(); err != nil {
			return "", err
		}
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// ContentHash returns a hash of all that a value holds, with its types and unexported
// fields. Functions count by their names.
func ContentHash(v any) string { return hashContent(reflect.ValueOf(v)) }

func hashContent(v reflect.Value) string {
	c := contentHasher{sha256.New(), map[pointee]int{}}
	c.add(v)
	return hex.EncodeToString(c.h.Sum(nil))
}

type contentHasher struct {
	h    hash.Hash
	seen map[pointee]int
}

func (c contentHasher) add(v reflect.Value) {
	if !v.IsValid() {
		fmt.Fprintln(c.h, "nothing")
		return
	}
	fmt.Fprintln(c.h, fullName(v.Type()), v.Kind())
	switch v.Kind() {
	case reflect.Interface:
		c.add(v.Elem())
	case reflect.Pointer:
		c.pointer(v)
	case reflect.Struct:
		for i := range v.NumField() {
			c.add(v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		fmt.Fprintln(c.h, v.Len(), v.Kind() == reflect.Slice && v.IsNil())
		for i := range v.Len() {
			c.add(v.Index(i))
		}
	case reflect.Map:
		fmt.Fprintln(c.h, v.Len())
		for _, k := range sortedKeys(v) {
			c.add(k)
			c.add(v.MapIndex(k))
		}
	case reflect.Func:
		if !v.IsNil() {
			fmt.Fprintln(c.h, functionName(v))
		}
	case reflect.Chan, reflect.UnsafePointer:
	default:
		c.basic(v)
	}
}

// pointer adds the target of a pointer, or, for one met before, its number.
func (c contentHasher) pointer(v reflect.Value) {
	here := pointee{v.Pointer(), v.Type()}
	if before, met := c.seen[here]; met || v.IsNil() {
		fmt.Fprintln(c.h, v.IsNil(), before)
		return
	}
	c.seen[here] = len(c.seen)
	c.add(v.Elem())
}

func (c contentHasher) basic(v reflect.Value) {
	switch {
	case v.Kind() == reflect.String:
		fmt.Fprintf(c.h, "%q\n", v.String())
	case v.Kind() == reflect.Bool:
		fmt.Fprintln(c.h, v.Bool())
	case v.CanInt():
		fmt.Fprintln(c.h, v.Int())
	case v.CanUint():
		fmt.Fprintln(c.h, v.Uint())
	case v.CanFloat():
		fmt.Fprintf(c.h, "%x\n", v.Float())
	case v.CanComplex():
		fmt.Fprintf(c.h, "%x\n", v.Complex())
	}
}

// sortedKeys returns a map's keys, sorted by the hashes of their content.
func sortedKeys(v reflect.Value) []reflect.Value {
	by := map[string]reflect.Value{}
	for _, k := range v.MapKeys() {
		by[hashContent(k)] = k
	}
	var out []reflect.Value
	for _, hash := range slices.Sorted(maps.Keys(by)) {
		out = append(out, by[hash])
	}
	return out
}
