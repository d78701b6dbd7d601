#ifndef BLASCAST_REGION_H
#define BLASCAST_REGION_H

#include "engine.h"

/* Runs the members behind a region, each lane's in order, all lanes at once; ticks from the common start to the end. */
int64_t timed_region(const bc_operation *region);

#endif
