#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

#include "engine.h"

void *bc_open(const char *path) { return dlopen(path, RTLD_NOW | RTLD_LOCAL); }

const char *bc_open_error(void) { return dlerror(); }

void *bc_symbol(void *library, const char *name) { return dlsym(library, name); }

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
