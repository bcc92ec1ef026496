import { expect } from "chai";
import { type PartitionGroup, partitioning, type Spread } from "#core/domain/webhooks/partitions.ts";
import { shareCount, shareOf } from "#core/domain/webhooks/shares.ts";
import {
  groupOf,
  groupsOf,
  isGivenBy,
  partitionCount,
  partitionOf,
  partitionOfEndpoint,
  partitions,
  placeOf,
} from "../../../../support/rows/partitioning.ts";

/** The partitions in which the events of a group are read. */
const readers = ({ groups, group }: PartitionGroup): number[] =>
  partitions.filter((one) => groupsOf(one).some((of) => of.groups === groups && of.group === group));

describe("the partitions of apps", () => {
  it("are spread evenly over apps", () => {
    const ids = Array.from({ length: 16_000 }, (_, n) => `app_01KAMX${n}`);
    const counts = [...Map.groupBy(ids, partitionOf).values()].map(({ length }) => length);
    expect(counts).to.have.length(partitionCount);
    expect(Math.min(...counts)).to.be.above(700);
    expect(Math.max(...counts)).to.be.below(1_300);
  });

  it("are the same in every release, as publishers and owners of two of them run side by side", () => {
    expect(["app_1", "app_2", "app_01JABCDEF"].map(partitionOf)).to.deep.equal([8, 1, 11]);
  });

  it("are each read by one consumer, and a group of several by as many", () => {
    for (const app of ["app_1", "app_2", "app_3"]) expect(readers(groupOf(app))).to.deep.equal([partitionOf(app)]);
    expect(readers({ groups: 4, group: 3 })).to.deep.equal([3, 7, 11, 15]);
    expect(readers({ groups: 1, group: 0 })).to.deep.equal(partitions);
  });
});

describe("the endpoints of an app that is spread over four partitions", () => {
  const app = "app_1";
  const endpoints = Array.from({ length: 400 }, (_, n) => ({ _id: `whk_01KAMX${n}`, app_id: app }));
  const placed = endpoints.map((one) => ({ ...one, partition: placeOf(one, 4) }));

  it("are placed in all four evenly, one of which is the app's first", () => {
    const counts = Map.groupBy(placed, ({ partition }) => partition);
    expect([...counts.keys()]).to.have.members(readers(groupOf(app, 4)));
    expect([...counts.keys()]).to.include(partitionOf(app));
    for (const { length } of counts.values()) expect(length).to.be.within(60, 140);
  });

  it("stay where they were before: in the app's first", () => {
    const [before] = endpoints;
    if (before === undefined) return expect.fail();
    expect([placeOf(before, 1), partitionOfEndpoint(before)]).to.deep.equal([partitionOf(app), partitionOf(app)]);
  });

  for (const spread of [1, 4] as Spread[])
    it(`are each given an event by one reader when its publisher takes the app to be spread over ${spread}`, () => {
      const group = groupOf(app, spread);
      for (const endpoint of [...placed, ...endpoints.slice(0, 10)]) {
        const givers = readers(group).filter((partition) => isGivenBy(partition, group, endpoint));
        const own = partitionOfEndpoint(endpoint);
        expect(givers).to.deep.equal([readers(group).includes(own) ? own : partitionOf(app)]);
      }
    });
});

for (const count of [48, 128])
  describe(`an installation of ${count} partitions`, () => {
    const { all, groupsOf, ...of } = partitioning(count);
    const app = "app_1";
    const readersOf = ({ groups, group }: PartitionGroup): number[] =>
      all.filter((one) => groupsOf(one).some((other) => other.groups === groups && other.group === group));

    it("uses each of them", () => {
      const ids = Array.from({ length: 1_000 * count }, (_, n) => `app_01KAMX${n}`);
      expect([...new Set(ids.map(of.ofApp))].toSorted((a, b) => a - b)).to.deep.equal(all);
    });

    for (const spread of [1, 4] as Spread[])
      it(`has each endpoint given an event by one reader when its app is spread over ${spread}`, () => {
        const group = of.groupOf(app, spread);
        expect(readersOf(group)).to.have.length(spread);
        for (let n = 0; n < 100; n++) {
          const endpoint = { app_id: app, partition: of.placeOf({ _id: `whk_${n}`, app_id: app }, 4) };
          expect(readersOf(group).filter((one) => of.isGivenBy(one, group, endpoint))).to.have.length(1);
        }
      });
  });

describe("the shares of endpoints", () => {
  it("are spread evenly over endpoints", () => {
    const ids = Array.from({ length: 64_000 }, (_, n) => `whk_01KAMX${n}`);
    const counts = [...Map.groupBy(ids, shareOf).values()].map(({ length }) => length);
    expect(counts).to.have.length(shareCount);
    expect(Math.min(...counts)).to.be.above(700);
    expect(Math.max(...counts)).to.be.below(1_300);
  });

  it("of an endpoint are the same in every release, as stored rows name them", () => {
    expect(["whk_1", "whk_2", "whk_01JABCDEF"].map(shareOf)).to.deep.equal([63, 18, 0]);
  });
});
