"""The cache model: what an algorithm's calls find in the caches (section 18.3 of the dissertation).

Calls access regions of buffers, in whole cache lines. A region's access distance is what was accessed
since its last use, found by a scan backwards over the calls of an iteration. An association tells from
it how much of the region is still in a cache. Estimates lie between those of warm and cold models.

accesses      the regions that calls access, array-valued
reuse         access distances of their operands
association   from distances to shares that are cached
mixing        estimates between warm and cold
"""
