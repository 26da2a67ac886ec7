//go:build cgo && !noxla && (xla || (linux && (amd64 || arm64)))

// The C side: loading a plugin, its table of functions, and calls of those that go-xla does
// not have. Layouts are those of PJRT's C interface, whose structures only ever grow at the
// end within one major version.

package plugin

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include "table.h"

extern void* letheCompile(int slot, lethe_compile* args); // in Go

static lethe_table* lethe_original[4];

static int lethe_has(lethe_table* t, int place) {
	return t->size >= sizeof(lethe_table) + (place + 1) * sizeof(lethe_function) && t->functions[place] != NULL;
}

static void lethe_forget_error(lethe_table* t, void* error) {
	if (error == NULL) return;
	struct { size_t size; void* extension; void* error; } args = {sizeof args, NULL, error};
	t->functions[LETHE_ERROR_DESTROY](&args);
}

// lethe_compiled_memory leaves the sizes zero where a plugin does not know them, as for a program
// that was loaded. go-xla takes that for a failure, but only prints them.
static void* lethe_compiled_memory(int slot, void* args) {
	lethe_table* t = lethe_original[slot];
	lethe_forget_error(t, t->functions[LETHE_COMPILED_MEMORY](args));
	return NULL;
}

// Two functions for each plugin, since their arguments do not name the plugin.
#define LETHE_SLOT(n) \
	static void* lethe_compile_##n(void* args) { return letheCompile(n, args); } \
	static void* lethe_memory_##n(void* args) { return lethe_compiled_memory(n, args); }
LETHE_SLOT(0) LETHE_SLOT(1) LETHE_SLOT(2) LETHE_SLOT(3)
static const lethe_function lethe_compiles[4] = {lethe_compile_0, lethe_compile_1, lethe_compile_2, lethe_compile_3};
static const lethe_function lethe_memories[4] = {lethe_memory_0, lethe_memory_1, lethe_memory_2, lethe_memory_3};

// lethe_load returns the plugin's table, or NULL and the linker's message.
static lethe_table* lethe_load(const char* path, char** message) {
	void* library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
	if (library == NULL) { *message = dlerror(); return NULL; }
	lethe_table* (*get)(void) = (lethe_table* (*)(void))dlsym(library, "GetPjrtApi");
	if (get == NULL) { *message = "it has no function GetPjrtApi"; dlclose(library); return NULL; }
	lethe_table* t = get();
	if (t == NULL) *message = "its function GetPjrtApi returns nothing";
	return t;
}

// lethe_wrap returns a copy of a table whose compile function is the slot's.
static lethe_table* lethe_wrap(lethe_table* t, int slot) {
	lethe_table* copy = malloc(t->size);
	memcpy(copy, t, t->size);
	copy->functions[LETHE_COMPILE] = lethe_compiles[slot];
	copy->functions[LETHE_COMPILED_MEMORY] = lethe_memories[slot];
	lethe_original[slot] = t;
	return copy;
}

static void* lethe_compile_anew(int slot, lethe_compile* args) { return lethe_original[slot]->functions[LETHE_COMPILE](args); }

// lethe_deserialize returns a loaded executable, or NULL if the plugin refuses the bytes.
static void* lethe_deserialize(int slot, void* client, char* bytes, size_t n) {
	lethe_table* t = lethe_original[slot];
	struct {
		size_t size; void* extension; void* client; char* bytes; size_t n; void* executable; char* options; size_t options_size;
	} args = {sizeof args, NULL, client, bytes, n, NULL, NULL, 0};
	void* error = t->functions[LETHE_DESERIALIZE](&args);
	if (error == NULL) return args.executable;
	lethe_forget_error(t, error);
	return NULL;
}

typedef struct { char* bytes; size_t n; void* serialized; void (*release)(void*); } lethe_bytes;

// lethe_serialize returns the bytes of a loaded executable, or none if the plugin cannot.
static lethe_bytes lethe_serialize(int slot, void* loaded) {
	lethe_table* t = lethe_original[slot];
	lethe_bytes out = {NULL, 0, NULL, NULL};
	struct { size_t size; void* extension; void* loaded; void* executable; } get = {sizeof get, NULL, loaded, NULL};
	void* error = t->functions[LETHE_GET_EXECUTABLE](&get);
	if (error != NULL) { lethe_forget_error(t, error); return out; }
	struct {
		size_t size; void* extension; void* executable; char* bytes; size_t n; void* serialized; void (*release)(void*);
	} args = {sizeof args, NULL, get.executable, NULL, 0, NULL, NULL};
	error = t->functions[LETHE_SERIALIZE](&args);
	if (error != NULL) lethe_forget_error(t, error);
	else out = (lethe_bytes){args.bytes, args.n, args.serialized, args.release};
	struct { size_t size; void* extension; void* executable; } destroy = {sizeof destroy, NULL, get.executable};
	lethe_forget_error(t, t->functions[LETHE_EXECUTABLE_DESTROY](&destroy));
	return out;
}

static void lethe_release(lethe_bytes b) { if (b.release != NULL) b.release(b.serialized); }

typedef struct { char* kind; size_t kind_size; char* version; size_t version_size; int64_t in_use, limit; } lethe_device;

// lethe_describe describes the first device of a client. What the plugin does not tell stays zero.
static lethe_device lethe_describe(int slot, void* client) {
	lethe_table* t = lethe_original[slot];
	lethe_device out;
	memset(&out, 0, sizeof out);
	struct { size_t size; void* extension; void* client; char* text; size_t n; } version = {sizeof version, NULL, client, NULL, 0};
	void* error = t->functions[LETHE_CLIENT_VERSION](&version);
	if (error == NULL) { out.version = version.text; out.version_size = version.n; }
	lethe_forget_error(t, error);
	struct { size_t size; void* extension; void* client; void** devices; size_t n; } all = {sizeof all, NULL, client, NULL, 0};
	error = t->functions[LETHE_CLIENT_DEVICES](&all);
	if (error != NULL || all.n == 0) { lethe_forget_error(t, error); return out; }
	struct { size_t size; void* extension; void* device; void* description; } get = {sizeof get, NULL, all.devices[0], NULL};
	error = t->functions[LETHE_DEVICE_DESCRIPTION](&get);
	if (error == NULL) {
		struct { size_t size; void* extension; void* description; char* text; size_t n; } kind = {sizeof kind, NULL, get.description, NULL, 0};
		error = t->functions[LETHE_DEVICE_KIND](&kind);
		if (error == NULL) { out.kind = kind.text; out.kind_size = kind.n; }
	}
	lethe_forget_error(t, error);
	// A number and whether it is set, ten times after the first number.
	struct { size_t size; void* extension; void* device; int64_t in_use; struct { int64_t value; char set; } rest[10]; } memory;
	memset(&memory, 0, sizeof memory);
	memory.size = sizeof memory;
	memory.device = all.devices[0];
	if (!lethe_has(t, LETHE_MEMORY)) return out;
	error = t->functions[LETHE_MEMORY](&memory);
	if (error == NULL) { out.in_use = memory.in_use; if (memory.rest[3].set) out.limit = memory.rest[3].value; }
	lethe_forget_error(t, error);
	return out;
}
*/
import "C"

import (
	"fmt"
	"unsafe"
)

// maxPlugins is the number of plugins that one process can load with kept programs.
const maxPlugins = 4

// MajorVersion is the major version of PJRT's C interface that go-xla speaks. Another one has
// other structures.
const MajorVersion = 0

// table is a loaded plugin's table of functions.
type table struct{ c *C.lethe_table }

// load loads a plugin and checks the version of its interface before any of its functions is
// called.
func load(path string) (table, error) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	var message *C.char
	t := C.lethe_load(name, &message)
	if t == nil {
		return table{}, fmt.Errorf("it cannot be loaded: %s", C.GoString(message))
	}
	if t.major != MajorVersion {
		return table{}, fmt.Errorf("%w: it speaks %d.%d", ErrVersion, t.major, t.minor)
	}
	return table{t}, nil
}

// Preload loads libraries that a plugin will look for by name, so that it finds these and no
// others. It returns how many could be loaded.
func Preload(paths []string) (loaded int) {
	for _, path := range paths {
		name := C.CString(path)
		if C.dlopen(name, C.RTLD_LAZY|C.RTLD_LOCAL) != nil {
			loaded++
		}
		C.free(unsafe.Pointer(name))
	}
	return loaded
}

// version returns the version of the plugin's interface.
func (t table) version() string { return fmt.Sprintf("%d.%d", t.c.major, t.c.minor) }

// serializes reports whether the plugin has the functions for kept programs.
func (t table) serializes() bool {
	for _, place := range []C.int{
		C.LETHE_DESERIALIZE, C.LETHE_SERIALIZE, C.LETHE_GET_EXECUTABLE, C.LETHE_EXECUTABLE_DESTROY, C.LETHE_COMPILE, C.LETHE_COMPILED_MEMORY,
	} {
		if C.lethe_has(t.c, place) == 0 {
			return false
		}
	}
	return true
}

// wrapped returns the table for go-xla: a copy that compiles through letheCompile.
func (t table) wrapped(slot int) uintptr {
	return uintptr(unsafe.Pointer(C.lethe_wrap(t.c, C.int(slot))))
}

func compileAnew(slot C.int, args *C.lethe_compile) unsafe.Pointer {
	return C.lethe_compile_anew(slot, args)
}

// serialize returns the bytes of a loaded executable, nil if the plugin cannot.
func serialize(slot C.int, loaded unsafe.Pointer) []byte {
	b := C.lethe_serialize(slot, loaded)
	defer C.lethe_release(b)
	if b.bytes == nil || b.n == 0 || b.n > maxProgram {
		return nil
	}
	return C.GoBytes(unsafe.Pointer(b.bytes), C.int(b.n))
}

// deserialize returns a loaded executable, nil if the plugin refuses the bytes.
func deserialize(slot C.int, client unsafe.Pointer, b []byte) unsafe.Pointer {
	text := C.CBytes(b)
	defer C.free(text)
	return C.lethe_deserialize(slot, client, (*C.char)(text), C.size_t(len(b)))
}

func describe(slot C.int, client unsafe.Pointer) Device {
	d := C.lethe_describe(slot, client)
	return Device{
		Kind: C.GoStringN(d.kind, C.int(d.kind_size)), Platform: C.GoStringN(d.version, C.int(d.version_size)),
		InUse: int64(d.in_use), Memory: int64(d.limit),
	}
}
