/* The C engine's interface: read by cffi and included by every C file.
 *
 * run.c       bc_run: a program of operations, start to end
 * clock.c     bc_now, bc_ticks_per_second, bc_clock_name, bc_nothing
 * probe.c     bc_probe, bc_switches
 * memory.c    bc_allocate, bc_fill, bc_copy, bc_touch, bc_flush
 * bandwidth.c bc_triad_ticks
 * library.c   bc_open, bc_symbol, bc_exit_when_closed
 *
 * Ticks are those of the finest clock of the machine (see clock.c).
 */

enum {
    BC_CALL = 0,       /* call the routine, untimed */
    BC_TIMED_CALL = 1, /* call the routine between two time stamps */
    BC_COPY = 2,       /* target := source, column by column (restores an operand) */
    BC_TOUCH = 3,      /* read target, one word a cache line */
    BC_FLUSH = 4,      /* evict target from all caches */
    BC_PROBE = 5,      /* read the probes and the count of preemptions */
};

enum { BC_GENERAL = 0, BC_SYMMETRIC_POSITIVE_DEFINITE = 1, BC_TRIANGULAR = 2, BC_PIVOTS = 3 };

/* What went wrong in bc_run. */
enum { BC_OK = 0, BC_UNKNOWN_OPERATION = 1, BC_TOO_MANY_WORDS = 2, BC_NO_FLUSH = 3 };

enum { BC_MAX_WORDS = 40 };

typedef struct {
    int32_t kind;
    /* Calls: pointers to the arguments, then the hidden lengths of the character arguments. */
    int32_t word_count;
    const uintptr_t *words;
    void *routine;
    /* Copy, touch, flush: `columns` columns of `column_bytes`, `stride_bytes` apart. */
    char *target;
    const char *source;
    int64_t column_bytes;
    int64_t columns;
    int64_t stride_bytes;
    /* Probe: skipped when the last one ended less than so many ticks ago. */
    int64_t minimum_gap_ticks;
} bc_operation;

typedef struct {
    int64_t start;    /* ticks at the beginning */
    int64_t ticks;    /* timed call: its duration; probe: the branch loop's; else -1 */
    int64_t clock;    /* probe: the arithmetic loop's ticks */
    int64_t switches; /* probe: involuntary context switches of this thread so far */
} bc_record;

/* Runs `count` operations; `*current` always holds the index of the one in progress. */
int bc_run(const bc_operation *operations, int64_t count, bc_record *records, int64_t *current);

int64_t bc_now(void);
double bc_ticks_per_second(double seconds);
const char *bc_clock_name(void);
void bc_nothing(void); /* an empty routine, to measure the engine's own overhead with */
void *bc_nothing_address(void);

/* Ticks of the branch loop, which feels a neighbour on the core, and of the arithmetic loop, which does not. */
void bc_probe(int64_t *branch, int64_t *arithmetic);
int64_t bc_switches(void);

void *bc_allocate(int64_t bytes);
void bc_release(void *memory);
/* Seeded contents of a `structure`; entry (i, j) depends on seed, i, j and rows alone. */
void bc_fill(void *data, int structure, int itemsize, int64_t rows, int64_t columns, int64_t ld, uint64_t seed);
void bc_copy(char *target, const char *source, int64_t column_bytes, int64_t columns, int64_t stride_bytes);
void bc_touch(const char *target, int64_t column_bytes, int64_t columns, int64_t stride_bytes);
int bc_flush(const char *target, int64_t column_bytes, int64_t columns, int64_t stride_bytes);

/* Ticks of the fastest of several triads by `threads` threads, one on each of `cpus`, on three arrays of `elements`
 * doubles for every thread; -1 where memory or threads are lacking. */
int64_t bc_triad_ticks(const int32_t *cpus, int threads, int64_t elements, int repetitions);

void *bc_open(const char *path); /* NULL: see bc_open_error */
const char *bc_open_error(void);
void *bc_symbol(void *library, const char *name);
/* Calls a routine now; 0 or BC_TOO_MANY_WORDS. */
int bc_call(void *routine, const uintptr_t *words, int word_count);
/* Ends this process as soon as the other end of a pipe or socket is closed. */
int bc_exit_when_closed(int descriptor);
