#define _GNU_SOURCE
#include <dlfcn.h>
#ifdef __ELF__
#include <link.h>
#endif
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "engine.h"

void *bc_open(const char *path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL); }

const char *bc_open_error(void) { return dlerror(); }

void *bc_symbol(void *library, const char *name) { return dlsym(library, name); }

const char *bc_file_of(const void *address) {
    Dl_info info;
    return dladdr(address, &info) ? info.dli_fname : NULL;
}

#ifdef __ELF__

/* What a library imports stands in two tables of relocations; each names a symbol and the slot that holds its address. */
typedef struct {
    ElfW(Addr) base;
    const ElfW(Sym) *symbols;
    const char *names;
    const ElfW(Rela) *tables[2];
    int64_t counts[2];
} imports;

static imports imports_of(void *library) {
    imports found = {0};
    struct link_map *map;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
        return found;
    found.base = map->l_addr;
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; entry++) {
        /* glibc has added the base to these addresses already, other loaders have not */
        const ElfW(Addr) address = entry->d_un.d_ptr + (entry->d_un.d_ptr < map->l_addr ? map->l_addr : 0);
        switch (entry->d_tag) {
        case DT_SYMTAB: found.symbols = (const ElfW(Sym) *)address; break;
        case DT_STRTAB: found.names = (const char *)address; break;
        case DT_JMPREL: found.tables[0] = (const ElfW(Rela) *)address; break;
        case DT_PLTRELSZ: found.counts[0] = (int64_t)(entry->d_un.d_val / sizeof(ElfW(Rela))); break;
        case DT_RELA: found.tables[1] = (const ElfW(Rela) *)address; break;
        case DT_RELASZ: found.counts[1] = (int64_t)(entry->d_un.d_val / sizeof(ElfW(Rela))); break;
        }
    }
    return found;
}

static const ElfW(Rela) *import_at(const imports *from, int64_t index) {
    return index < from->counts[0] ? from->tables[0] + index : from->tables[1] + (index - from->counts[0]);
}

int64_t bc_import_count(void *library) {
    const imports from = imports_of(library);
    return from.counts[0] + from.counts[1];
}

const char *bc_import_name(void *library, int64_t index) {
    const imports from = imports_of(library);
    const ElfW(Sym) *symbol = from.symbols + ELF64_R_SYM(import_at(&from, index)->r_info);
    return symbol->st_shndx == SHN_UNDEF ? from.names + symbol->st_name : ""; /* else its own, or none */
}

int bc_import_bind(void *library, int64_t index, void *routine) {
    const imports from = imports_of(library);
    void **slot = (void **)(from.base + import_at(&from, index)->r_offset);
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *start = (void *)((uintptr_t)slot & ~(page - 1)); /* read-only since the loader had filled it */
    if (mprotect(start, page, PROT_READ | PROT_WRITE) != 0)
        return -1;
    *slot = routine;
    return 0;
}

#else /* no other format's tables are known here */

int64_t bc_import_count(void *library) {
    (void)library;
    return 0;
}

const char *bc_import_name(void *library, int64_t index) {
    (void)library, (void)index;
    return "";
}

int bc_import_bind(void *library, int64_t index, void *routine) {
    (void)library, (void)index, (void)routine;
    return -1;
}

#endif

static void *wait_for_close(void *descriptor) {
    char byte;
    while (read((int)(intptr_t)descriptor, &byte, 1) > 0) {
    }
    _exit(0);
}

int bc_exit_when_closed(int descriptor) {
    pthread_t thread;
    const int status = pthread_create(&thread, NULL, wait_for_close, (void *)(intptr_t)descriptor);
    return status == 0 ? pthread_detach(thread) : status;
}
