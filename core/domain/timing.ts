/**
 * After how long a program believes that another has died, and how often it says that it itself has not. Every program
 * makes one of these from its settings; all programs of an installation have the same. Source: docs/decisions/0100.
 */
export type Timing = {
  /** How long a lease on a message, a chunk or a job lasts; it is extended after a third of that. */
  leaseMs: number;
  /** How long the turn to send a live activity's changes lasts; it is extended after a third of that. */
  turnMs: number;
  /** JetStream hands a hint out again when it has heard nothing of it for so long. */
  ackWaitMs: number;
  /** How often JetStream hears of hints in hand. */
  ackBeatMs: number;
  /** Of the dispatchers that divide the partitions of events among themselves (docs/decisions/0048). */
  owners: OwnerTiming;
  /** Of the operators, of which one leads. */
  leader: LeaderTiming;
  /** How soon a resource that found no place in its plan is looked at again: what makes a place free requeues nobody. */
  placeMs: number;
};

export type OwnerTiming = {
  /** How often a dispatcher writes that it is there. */
  beatMs: number;
  /** One that has not written for so long may be gone. */
  silentMs: number;
  /** For so long a dispatcher trusts what it wrote, from the beginning of the write. */
  trustMs: number;
  /** One that has not written for so long is gone: others take what it owned. */
  goneMs: number;
  /** Who has not looked for so long knows nothing of what others did meanwhile. */
  blindMs: number;
};

export type LeaderTiming = {
  /** How long others wait for a leader that renews its Lease no more; Kubernetes counts it in whole seconds. */
  leaseMs: number;
  /** A leader that could not renew for so long stops, before others may take over. */
  renewMs: number;
  /** How often the Lease is renewed. */
  everyMs: number;
  /** How soon again after a failure. */
  retryMs: number;
};

export const timingNames = ["usual", "short"] as const;
export type TimingName = (typeof timingNames)[number];

/**
 * `usual` rides out a busy machine, a pause of a virtual machine and the loss of one beat. `short` has the work of a killed
 * program go on after seconds, for tests; under it a program that stands still for two seconds loses what it holds, which
 * costs repeated work and nothing else.
 */
export const timings: Readonly<Record<TimingName, Timing>> = {
  usual: {
    leaseMs: 30_000,
    turnMs: 10_000,
    ackWaitMs: 30_000,
    ackBeatMs: 10_000,
    owners: { beatMs: 2_000, silentMs: 6_000, trustMs: 8_000, goneMs: 10_000, blindMs: 5_000 },
    leader: { leaseMs: 15_000, renewMs: 10_000, everyMs: 6_000, retryMs: 2_000 }, // those of client-go
    placeMs: 30_000,
  },
  short: {
    leaseMs: 6_000,
    turnMs: 3_000,
    ackWaitMs: 6_000,
    ackBeatMs: 2_000,
    owners: { beatMs: 500, silentMs: 2_000, trustMs: 2_500, goneMs: 3_500, blindMs: 1_500 },
    leader: { leaseMs: 4_000, renewMs: 3_000, everyMs: 800, retryMs: 200 },
    placeMs: 6_000,
  },
};
