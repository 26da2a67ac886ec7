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

// A key names what it is made of: "scrub", version 2. That says enough of what is defined
// in Lethe, where a version goes up when the code changes. Of what somebody else has
// written (a method, a network, a loss, a measurement) it says nothing: the code can
// change and the name stay. So a key has a line for every value of a type from outside
// Lethe's module, and every function, wherever it stands in the configuration: the type,
// the hash of all its fields, unexported ones too, and what the code was built from.

// lethe is the module whose code is known by its versions.
const lethe = "github.com/lethe-ml/lethe"

// CodeOf describes the code from outside Lethe that values bring along, in a line each:
// their own, if their type is one, and what they hold in fields, interfaces, lists and
// behind pointers. It is empty where everything is Lethe's or the standard library's.
//
// A module of a version with a sum counts as that, with the sums of all other modules of
// the program; other code, of the main module or in a folder, as the SHA-256 of the
// program that runs.
//
// It fails for a function literal inside a value, because what that captures cannot be
// told, and where the program cannot be read.
func CodeOf(values ...any) ([]string, error) {
	w := codeWalk{seen: map[place]bool{}}
	for _, v := range values {
		if f := reflect.ValueOf(v); f.Kind() == reflect.Func && !f.IsNil() {
			w.note(functionPackage(f), functionName(f), "")
			continue
		}
		w.value("", reflect.ValueOf(v))
	}
	if w.err != nil {
		return nil, w.err
	}
	return w.lines, nil
}

// codeWalk collects lines.
type codeWalk struct {
	lines []string
	seen  map[place]bool
	err   error
}

// place is a value that somebody points to.
type place struct {
	at uintptr
	of reflect.Type
}

// note adds the line of something defined in a package, if that is outside.
func (w *codeWalk) note(pkg, name, content string) {
	if w.err != nil || !outside(pkg) {
		return
	}
	built, err := program().origin(pkg)
	if err != nil {
		w.err = fmt.Errorf("%s is defined outside Lethe, and what it was built from is not known: %w", name, err)
		return
	}
	w.lines = append(w.lines, strings.Join(slices.DeleteFunc([]string{name, content, built}, func(s string) bool { return s == "" }), " "))
}

// value adds the lines of a value that stands at a path.
func (w *codeWalk) value(path string, v reflect.Value) {
	if w.err != nil || !v.IsValid() || ours(v.Type()) {
		return
	}
	if v.Kind() == reflect.Interface { // has no code of its own
		w.value(path, v.Elem())
		return
	}
	w.typed(path, v)
	switch v.Kind() {
	case reflect.Pointer:
		here := place{v.Pointer(), v.Type()}
		if !v.IsNil() && !w.seen[here] {
			w.seen[here] = true
			w.value(path, v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			w.value(path+"."+v.Type().Field(i).Name, v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			w.value(fmt.Sprintf("%s[%d]", path, i), v.Index(i))
		}
	case reflect.Map:
		for _, k := range sortedKeys(v) {
			w.value(path+"[key]", k)
			w.value(fmt.Sprintf("%s[%s]", path, contentOf(k)[:8]), v.MapIndex(k))
		}
	case reflect.Func:
		w.function(path, v)
	}
}

// typed adds the lines of a value's type, and of the types that a generic one is made of.
func (w *codeWalk) typed(path string, v reflect.Value) {
	t := v.Type()
	for _, pkg := range packages(t) {
		if outside(pkg) {
			w.note(pkg, strings.TrimSpace(path+" "+fullName(t)), contentOf(v))
		}
	}
}

// literal is the name of a function that may capture what its name does not tell.
var literal = regexp.MustCompile(`\.func\d+(\.\d+)*$|\.gowrap\d+$|-fm$|-range\d+$`)

func (w *codeWalk) function(path string, v reflect.Value) {
	if v.IsNil() || !outside(functionPackage(v)) {
		return
	}
	name := functionName(v)
	if literal.MatchString(name) {
		w.err = fmt.Errorf("the function literal %s in %s: what it captures is not known, so a result cannot be kept under a key; "+
			"take a named function, or a struct with fields", name, strings.TrimPrefix(path, "."))
		return
	}
	w.note(functionPackage(v), strings.TrimSpace(path+" "+name), "")
}

func functionName(v reflect.Value) string {
	if f := runtime.FuncForPC(v.Pointer()); f != nil {
		return f.Name()
	}
	return "main.unknown"
}

// functionPackage is the path of the package in whose symbol a function is.
func functionPackage(v reflect.Value) string { return packageOf(functionName(v)) }

// packageOf is the path before the name: "a.b/c" of "a.b/c.(*T).M".
func packageOf(name string) string {
	name, _, _ = strings.Cut(name, "[")
	slash := strings.LastIndex(name, "/") + 1
	end, _, _ := strings.Cut(name[slash:], ".")
	return strings.ReplaceAll(name[:slash]+end, "%2e", ".")
}

// ours reports whether no value of a type can hold anything from outside.
func ours(t reflect.Type) bool { return oursBeside(t, map[reflect.Type]bool{}) }

func oursBeside(t reflect.Type, asked map[reflect.Type]bool) bool {
	if asked[t] {
		return true
	}
	asked[t] = true
	if slices.ContainsFunc(packages(t), outside) {
		return false
	}
	switch t.Kind() {
	case reflect.Interface, reflect.Func:
		return false
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return oursBeside(t.Elem(), asked)
	case reflect.Map:
		return oursBeside(t.Key(), asked) && oursBeside(t.Elem(), asked)
	case reflect.Struct:
		for i := range t.NumField() {
			if !oursBeside(t.Field(i).Type, asked) {
				return false
			}
		}
	}
	return true
}

// fullName is a type's name with the path of its package.
func fullName(t reflect.Type) string {
	if t.PkgPath() == "" {
		return t.String()
	}
	return t.PkgPath() + "." + t.Name()
}

// argument is what a generic type's name says of a type that it is made of.
var argument = regexp.MustCompile(`[^\[\],\s*(){};]+\.[^\[\],\s*(){};]+`)

// packages are those in which a named type and the types that it is made of are defined.
func packages(t reflect.Type) []string {
	if t.PkgPath() == "" {
		return nil
	}
	out := []string{t.PkgPath()}
	if _, arguments, generic := strings.Cut(t.Name(), "["); generic {
		for _, a := range argument.FindAllString(arguments, -1) {
			out = append(out, packageOf(a))
		}
	}
	return out
}

// standard are the folders of the standard library.
var standard = strings.Fields("archive arena bufio builtin bytes cmp compress container context crypto database debug embed encoding errors " +
	"expvar flag fmt go hash html image index internal io iter log maps math mime net os path plugin reflect regexp runtime simd slices sort " +
	"strconv strings structs sync syscall testing text time unicode unique unsafe vendor weak")

// outside reports whether a package is neither Lethe's nor the standard library's. A test
// package is outside: it stands for somebody else's. So is every main package.
func outside(pkg string) bool {
	root, _, _ := strings.Cut(pkg, "/")
	switch {
	case pkg == "":
		return false
	case pkg == lethe || strings.HasPrefix(pkg, lethe+"/"):
		return strings.HasSuffix(pkg, "_test")
	case slices.Contains(standard, root):
		_, owned := program().owner(pkg)
		return owned
	}
	return true
}

// built is what is known of the program that runs.
type built struct {
	modules    []debug.Module // what they were replaced by in their place, under their own paths
	pinned     string         // hash of all modules but Lethe's, "" where one has no sum
	executable func() (string, error)
}

var program = sync.OnceValue(func() built {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return builtFrom(info, sync.OnceValues(hashOfProgram))
})

func builtFrom(info *debug.BuildInfo, executable func() (string, error)) built {
	b := built{executable: executable}
	h, all := sha256.New(), true
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		actual := *m
		if m.Replace != nil {
			actual = *m.Replace
		}
		b.modules = append(b.modules, debug.Module{Path: m.Path, Version: actual.Path + "@" + actual.Version, Sum: actual.Sum})
		if m.Path == lethe || m == &info.Main && m.Sum == "" {
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

// owner is the module that a package is of.
func (b built) owner(pkg string) (m debug.Module, ok bool) {
	for _, one := range b.modules {
		if one.Path != "" && (pkg == one.Path || strings.HasPrefix(pkg, one.Path+"/")) && len(one.Path) > len(m.Path) {
			m, ok = one, true
		}
	}
	return m, ok
}

// origin says what the code of a package was built from. Other modules count too: they are
// what it calls.
func (b built) origin(pkg string) (string, error) {
	if m, ok := b.owner(pkg); ok && pkg != "main" && m.Path != lethe && m.Sum != "" && b.pinned != "" {
		return fmt.Sprintf("of %s %s among modules %s", m.Version, m.Sum, b.pinned), nil
	}
	hash, err := b.executable()
	return "of program " + hash, err
}

// hashOfProgram is the SHA-256 of the file that runs, and not of what has taken its name
// since.
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

// ContentOf is a hash of all that a value holds, with its types and unexported fields. Of
// functions it holds the names.
func ContentOf(v any) string { return contentOf(reflect.ValueOf(v)) }

func contentOf(v reflect.Value) string {
	c := content{sha256.New(), map[place]int{}}
	c.add(v)
	return hex.EncodeToString(c.h.Sum(nil))
}

type content struct {
	h    hash.Hash
	seen map[place]int
}

func (c content) add(v reflect.Value) {
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

// pointer adds what it points to; of a pointer met before, when that was.
func (c content) pointer(v reflect.Value) {
	here := place{v.Pointer(), v.Type()}
	if before, met := c.seen[here]; met || v.IsNil() {
		fmt.Fprintln(c.h, v.IsNil(), before)
		return
	}
	c.seen[here] = len(c.seen)
	c.add(v.Elem())
}

func (c content) basic(v reflect.Value) {
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

// sortedKeys are a map's keys in an order that their content gives.
func sortedKeys(v reflect.Value) []reflect.Value {
	by := map[string]reflect.Value{}
	for _, k := range v.MapKeys() {
		by[contentOf(k)] = k
	}
	var out []reflect.Value
	for _, hash := range slices.Sorted(maps.Keys(by)) {
		out = append(out, by[hash])
	}
	return out
}
