import { fnv1a } from "./partitions.ts";

/** Parts of the index that finds what waits for endpoints: each endpoint belongs to one. Stored rows name it. */
export const shareCount = 64;

/** The part of an endpoint, by a hash of its id. */
export const shareOf = (endpointId: string): number => fnv1a(endpointId) % shareCount;
