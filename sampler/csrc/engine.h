#ifndef BLASCAST_ENGINE_H
#define BLASCAST_ENGINE_H

#include <stdint.h>

#include "engine.cdef.h"

#endif
