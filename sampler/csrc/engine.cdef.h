/* The C engine's interface: read by cffi and included by every C file.
 *
 * run.c       bc_run: a program of operations, start to end
 * dispatch.c  bc_call: one routine, by pointers to its arguments
 * nest.c      nested loops around calls
 * region.c    bc_team, bc_region: several calls at once, on pinned threads
 * counters.c  bc_counters_open, bc_counters_read, bc_counters_share: events of the processor and the kernel
 * clock.c     bc_now, bc_ticks_per_second, bc_clock_name, bc_cpu, bc_nothing
 * probe.c     bc_probe, bc_usage
 * memory.c    bc_allocate, bc_fill, bc_copy, bc_touch, bc_flush
 * bandwidth.c bc_triad_ticks
 * loops.c     bc_loop: routines that no library has
 * library.c   bc_open, bc_symbol, bc_file_of, bc_import_*, bc_exit_when_closed
 *
 * Ticks are those of the finest clock of the machine (see clock.c).
 */

enum {
    BC_CALL = 0,       /* call the routine, untimed */
    BC_TIMED_CALL = 1, /* call the routine between two time stamps */
    BC_COPY = 2,       /* target := source, column by column (restores an operand) */
    BC_TOUCH = 3,      /* read target, one word a cache line */
    BC_FLUSH = 4,      /* evict target from all caches */
    BC_PROBE = 5,      /* read the probes and the counts of preemptions and page faults */
    BC_REGION = 6,     /* run the next `amount` members at once, each in its lane, between two time stamps */
    BC_MEMBER = 7,     /* a call of the region before it */
    BC_NEST = 8,       /* run the next `amount` rows, loops and steps, between two time stamps */
    BC_LOOP = 9,       /* of a nest: run the next `amount` rows `columns` times */
    BC_STEP = 10,      /* of a nest: call the routine */
};

enum {
    BC_GENERAL = 0,
    BC_POSITIVE_DEFINITE = 1,
    BC_TRIANGULAR = 2,
    BC_PIVOTS = 3,
    BC_REFLECTORS = 4,
    BC_SCHUR = 5,
    BC_SHIFTED_SCHUR = 6,
    BC_PACKED_TRIANGULAR = 7,
    BC_MODIFIED_ROTATION = 8,
};

/* Numbers that operands hold and functions return. */
enum {
    BC_VOID = 0,
    BC_INT32 = 1,
    BC_INT64 = 2,
    BC_FLOAT = 3,
    BC_DOUBLE = 4,
    BC_FLOAT_COMPLEX = 5,
    BC_DOUBLE_COMPLEX = 6,
};

/* What went wrong in bc_run. */
enum { BC_OK = 0, BC_UNKNOWN_OPERATION = 1, BC_TOO_MANY_WORDS = 2, BC_NO_FLUSH = 3, BC_TOO_FEW_LANES = 4 };

enum { BC_MAX_WORDS = 40, BC_MAX_LANES = 256, BC_MAX_COUNTERS = 16 };

typedef struct {
    int32_t kind;
    /* Calls: pointers to the arguments, then the hidden lengths of the character arguments;
     * room for the next multiple of four words. A step has two more words, the places of 0 and 1.
     * Loops: moves, three words each: the index of a step among the nest's rows (from 1), that of a
     * word of its call (or -1: its result), and by how many bytes each iteration moves it. */
    int32_t word_count;
    const uintptr_t *words;
    void *routine;
    /* Functions: what they return, and where it goes. */
    void *result;
    int32_t returns;
    int32_t lane; /* member: the thread that runs it */
    /* Copy, touch, flush: `columns` columns of `column_bytes`, `stride_bytes` apart. */
    char *target;
    const char *source;
    int64_t column_bytes;
    int64_t columns;
    int64_t stride_bytes;
    /* Probe: skipped when the last one ended less than so many ticks ago. Region: number of members.
     * Nest, loop: number of rows. */
    int64_t amount;
    int32_t adds;   /* loop: its iterations add to one result, which is new at the first of them */
    int32_t beta;   /* step: the word that points to 0 while the result is new, then to 1; -1: none */
    int32_t hidden; /* step: a function that returns its value through its first argument */
    int32_t unused;
} bc_operation;

typedef struct {
    int64_t start;    /* ticks at the beginning */
    int64_t ticks;    /* timed call or region: its duration; probe: the branch loop's; else -1 */
    int64_t clock;    /* probe: the arithmetic loop's ticks; else -1, as the rest */
    int64_t halt;     /* probe: ticks that it took besides its loops */
    int64_t switches; /* probe: involuntary context switches of this process so far */
    int64_t faults;   /* probe: page faults of this process so far */
    int64_t cpu;      /* probe: number of this thread's CPU; -1 where that is not told */
} bc_record;

/* Runs `count` operations; `*current` always holds the index of the one in progress. `counters` has
 * a row of the open counters for every operation, or is NULL. */
int bc_run(const bc_operation *operations, int64_t count, bc_record *records, int64_t *counters, int64_t *current);

/* Calls a subroutine now; 0 or BC_TOO_MANY_WORDS. */
int bc_call(void *routine, const uintptr_t *words, int word_count);

/* Starts threads for regions of up to `lanes` lanes, thread i on CPU cpus[i]; the caller is lane 0. 0 or an errno. */
int bc_team(const int32_t *cpus, int lanes);
int bc_team_size(void);

/* Events: a type of perf_event_open and its config, or one of these types. */
enum { BC_PAGE_FAULTS = -1, BC_CONTEXT_SWITCHES = -2, BC_MIGRATIONS = -3, BC_TASK_CLOCK = -4 };

/* Replaces the counters; 0, or the errno of the event `*failed`. Processor events count together, in
 * one group, unless `multiplex` lets them take turns. */
int bc_counters_open(const int32_t *types, const int64_t *configs, int count, int multiplex, int *failed);
int bc_counter_count(void);
void bc_counters_read(int64_t *values);
/* Share of the time that a counter counted since it was opened, 0 to 1. */
double bc_counters_share(int counter);

int64_t bc_now(void);
double bc_ticks_per_second(double seconds);
const char *bc_clock_name(void);
int bc_cpu(void); /* number of the CPU that runs this thread; -1 if the system does not tell */
void bc_nothing(void); /* an empty routine, to measure the engine's own overhead with */
void *bc_nothing_address(void);

/* Ticks of the branch loop, which feels a neighbour on the core, of the arithmetic loop, which does
 * not, and of what the probe took besides. */
void bc_probe(int64_t *branch, int64_t *arithmetic, int64_t *halt);
/* Involuntary context switches and page faults of this process so far. */
void bc_usage(int64_t *switches, int64_t *faults);

void *bc_allocate(int64_t bytes);
void bc_release(void *memory);
/* Seeded contents of a `structure`; entry (i, j) depends on seed, i, j and rows alone. */
void bc_fill(void *data, int structure, int numbers, int64_t rows, int64_t columns, int64_t ld, uint64_t seed);
void bc_copy(char *target, const char *source, int64_t column_bytes, int64_t columns, int64_t stride_bytes);
void bc_touch(const char *target, int64_t column_bytes, int64_t columns, int64_t stride_bytes);
int bc_flush(const char *target, int64_t column_bytes, int64_t columns, int64_t stride_bytes);

/* Ticks of the fastest of several triads by `threads` threads, one on each of `cpus`, on three arrays of `elements`
 * doubles for every thread; -1 where memory or threads are lacking. */
int64_t bc_triad_ticks(const int32_t *cpus, int threads, int64_t elements, int repetitions);

void *bc_open(const char *path); /* NULL: see bc_open_error */
const char *bc_open_error(void);
void *bc_symbol(void *library, const char *name);
void *bc_loop(const char *name, int integer_bits);
const char *bc_file_of(const void *address); /* the library that an address belongs to; NULL: none */
/* What a library takes from others: the name ("" for anything else among its relocations), and another routine for it. */
int64_t bc_import_count(void *library);
const char *bc_import_name(void *library, int64_t index);
int bc_import_bind(void *library, int64_t index, void *routine);
/* Ends this process as soon as the other end of a pipe or socket is closed. */
int bc_exit_when_closed(int descriptor);
