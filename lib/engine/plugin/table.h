// The layouts of PJRT's C interface that package plugin needs. Structures only ever grow at the
// end within one major version, and every structure begins with its size.

#ifndef LETHE_PJRT_TABLE
#define LETHE_PJRT_TABLE
#include <stddef.h>
#include <stdint.h>

// A plugin's table: a header, then pointers to functions that take a pointer to their arguments
// and return an error or NULL.
typedef void* (*lethe_function)(void*);
typedef struct {
	size_t size; void* extension;
	size_t version_size; void* version_extension; int major, minor;
	lethe_function functions[];
} lethe_table;

enum { // places in the table
	LETHE_ERROR_DESTROY = 0, LETHE_CLIENT_VERSION = 14, LETHE_CLIENT_DEVICES = 16, LETHE_COMPILE = 20, LETHE_DEVICE_KIND = 26,
	LETHE_DEVICE_DESCRIPTION = 29, LETHE_MEMORY = 34, LETHE_EXECUTABLE_DESTROY = 40, LETHE_SERIALIZE = 49, LETHE_LOADED_DESTROY = 50,
	LETHE_GET_EXECUTABLE = 51, LETHE_DESERIALIZE = 56, LETHE_COMPILED_MEMORY = 96,
};

typedef struct { size_t size; void* extension; char* code; size_t code_size; char* format; size_t format_size; } lethe_program;
typedef struct {
	size_t size; void* extension; void* client; lethe_program* program; char* options; size_t options_size; void* executable;
} lethe_compile;
#endif
