#include "dispatch.h"

#include <string.h>

void store_integer(const bc_operation *operation, int64_t value) {
    if (operation->returns == BC_INT64) {
        memcpy(operation->result, &value, 8);
    } else if (operation->returns == BC_INT32) {
        memcpy(operation->result, &(int32_t){(int32_t)value}, 4);
    }
}

void store_floating(const bc_operation *operation, double complex value) {
    const double first = creal(value), second = cimag(value);
    char *result = operation->result;
    switch (operation->returns) {
    case BC_FLOAT: memcpy(result, &first, 4); break;
    case BC_DOUBLE: memcpy(result, &first, 8); break;
    case BC_DOUBLE_COMPLEX:
        memcpy(result, &first, 8);
        memcpy(result + 8, &second, 8);
        break;
    default: /* single complex: packed into one register on x86-64, in two on aarch64 */
#if defined(__aarch64__)
        memcpy(result, &first, 4);
        memcpy(result + 4, &second, 4);
#else
        memcpy(result, &first, 8);
#endif
    }
}

int bc_call(void *routine, const uintptr_t *words, int word_count) {
    if (word_count > BC_MAX_WORDS) {
        return BC_TOO_MANY_WORDS;
    }
    dispatch_integer(routine, words, word_count);
    return BC_OK;
}
