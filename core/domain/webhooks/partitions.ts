/** Over how many partitions the endpoints of an app are spread, and its events go; it only grows. */
export type Spread = 1 | 4;

/** Partitions that read the same events: the `group`-th of so many groups. A subject names both. */
export type PartitionGroup = { groups: number; group: number };

/** An endpoint as far as its partition follows from it; `partition` is absent when that is its app's first. */
export type Placed = { app_id: string; partition?: number };

/** What follows from how many partitions an installation's events have, which is settled when it is made. */
export type Partitioning = ReturnType<typeof partitioning>;

/** Partitions of an installation's events, a multiple of 16. Each has one owner, who reads its events and serves its endpoints. */
export const partitioning = (count: number) => {
  /** The partition of an app, for as long as it is there; the first one, where it is spread over several. */
  const ofApp = (appId: string): number => fnv1a(appId) % count;
  /** The partition of an endpoint, for as long as it is there. */
  const ofEndpoint = ({ app_id: appId, partition }: Placed): number => partition ?? ofApp(appId);
  /** The partitions that the events of an app go to. */
  const groupOf = (appId: string, spread: Spread = 1): PartitionGroup => {
    const groups = count / spread;
    return { groups, group: ofApp(appId) % groups };
  };
  return {
    count,
    all: Array.from({ length: count }, (_, partition) => partition),
    ofApp,
    ofEndpoint,
    groupOf,
    /** The partition of a new endpoint: one of its app's. */
    placeOf: (endpoint: { _id: string; app_id: string }, spread: Spread): number => {
      const { groups, group } = groupOf(endpoint.app_id, spread);
      return spread === 1 ? ofApp(endpoint.app_id) : group + groups * (fnv1a(endpoint._id) % spread);
    },
    /** Every group that a partition is part of: itself, one of four partitions, and one of sixteen. Nobody publishes to that yet. */
    groupsOf: (partition: number): PartitionGroup[] =>
      [count, count / 4, count / 16].map((groups) => ({ groups, group: partition % groups })),
    /**
     * Whether who reads the events of a group in a partition gives them to an endpoint: to those of the partition; and in the
     * app's first one also to those that the group does not reach, as the publisher did not know yet how far the app is
     * spread. So each endpoint is given an event once, whatever the publisher knew.
     */
    isGivenBy: (partition: number, { groups }: PartitionGroup, endpoint: Placed): boolean => {
      const own = ofEndpoint(endpoint);
      return own % groups === partition % groups ? own === partition : partition === ofApp(endpoint.app_id);
    },
  };
};

/** FNV-1a, 32 bits, of a text of ASCII. Source: draft-eastlake-fnv, "FNV-1a". */
export const fnv1a = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
};
