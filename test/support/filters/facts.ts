import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import type { Facts } from "#core/domain/filters/subject.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import { type FactsOf, filterFacts } from "#core/storage/segments/facts.ts";
import { testKeyRing } from "../rows/fixtures.ts";

/** As programs of test installations read facts. */
export const storedFacts = (db: Db, clock: Clock = { now: () => new Date() }): FactsOf =>
  filterFacts({ db, secrets: keyRing(testKeyRing), clock });

/** Facts that follow from what is asked, and of whom: as if they had been stored. */
export const anyFacts: Facts = {
  countOf: (key, userId) => sumOf(`${key} ${userId}`) % 4,
  isSuppressed: ({ _id = "" }) => sumOf(_id) % 2 === 0,
};

const sumOf = (text: string): number =>
  Array.from(text).reduce((sum, one) => (sum * 31 + one.charCodeAt(0)) % 9_973, 7);
