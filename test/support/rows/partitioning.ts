import { partitioning } from "#core/domain/webhooks/partitions.ts";

/** The partitions of installations whose setting is left out, as those of tests. */
export const testPartitioning = partitioning(16);

export const {
  all: partitions,
  count: partitionCount,
  ofApp: partitionOf,
  ofEndpoint: partitionOfEndpoint,
  groupOf,
  groupsOf,
  placeOf,
  isGivenBy,
} = testPartitioning;
