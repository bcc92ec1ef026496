import { groupOf, isAccountDoubted, isGroupDoubted, type Verdict } from "#core/domain/suppressions/verdicts.ts";
import { type Channel, isContact } from "#core/schema/vocabulary/channels.ts";
import type { DeliveryErrorCode } from "#core/schema/vocabulary/delivery-error-codes.ts";
import type { OfApp } from "#core/storage/mongo/collection.ts";
import type { Group, Heard } from "#core/storage/suppressions/verdicts.ts";
import { type HearingDeps, hearing, type Known } from "./hearing.ts";

/** What is said of an address after its provider took the message; `of.part` is the country or domain of the address. */
export type Judged = Verdict & { of: Group; isAnswer?: true | undefined };

/** Whether what calls an address gone is doubted. */
export type Doubts = (one: Pick<Judged, "of" | "isAnswer">) => boolean;

/** An address that its provider's answer called gone. */
export type AnsweredGone = { deliveryId: string; address: string; code: DeliveryErrorCode };

/** What a provider answered to the sends of one run; `revision` is that of the account. */
export type Answers<Gone extends AnsweredGone> = {
  of: OfApp;
  channel: Channel;
  provider: string;
  revision: number;
  /** Ids of deliveries. */
  accepted: readonly string[];
  gone: readonly Gone[];
};

export type Guard = ReturnType<typeof guard>;

/** Other processes know this much later of what came through; what says gone is shared at once, with what came before. */
const everyMs = { answers: 600_000, receipts: 10_000 };

/**
 * The guard against addresses that are called gone by mistake, for answers and receipts alike. It remembers what was said
 * of the addresses of an account, and of those of a country or mail domain, and says which to doubt. Nothing is read
 * unless an address is called gone: then once for all that came together.
 * Source: docs/reference/suppressions.md#doubt.
 */
export const guard = (deps: HearingDeps) => {
  const hear = hearing(deps);
  return {
    /** Hears a run's answers; gives those addresses called gone that are doubted. */
    ofAnswers: async <Gone extends AnsweredGone>(run: Answers<Gone>, now: Date): Promise<ReadonlySet<Gone>> => {
      const account = groupIn(run, `revision ${run.revision}`);
      const told = groupIn(run, null);
      const gone = run.gone.map((one) => ({ one, of: countryOrDomain(run, one.address) }));
      const asked = gone.length === 0 ? [] : [account, told, ...gone.flatMap(({ of }) => of ?? [])];
      const known = await hear(
        { heard: [inAccount(run, account), ...inGroups(gone)], asked, everyMs: everyMs.answers },
        now,
      );
      const isDoubted = (one: Gone, of: Group | null): boolean =>
        isAccountDoubted(known(account).verdicts, one.code === "TOKEN_UNREGISTERED") ||
        (of !== null && known(told).isTold && isGroupDoubted(known(of).verdicts));
      return new Set(gone.filter(({ one, of }) => isDoubted(one, of)).map(({ one }) => one));
    },

    /** Hears what receipts, and answers that may change from day to day, say of addresses. */
    ofReceipts: async (judged: readonly Judged[], now: Date): Promise<Doubts> => {
      if (judged.length === 0) return () => false;
      const asked = judged.filter(({ isGone }) => isGone).flatMap(({ of }) => [of, told(of)]);
      const known = await hear({ heard: judged.flatMap(heardOf), asked, everyMs: everyMs.receipts }, now);
      return ({ of, isAnswer }) => isGroupDoubted(known(of).verdicts) && isTold(of, isAnswer, known(told(of)));
    },
  };
};

const groupIn = ({ of, channel, provider }: Omit<Group, "part">, part: string | null): Group => ({
  of,
  channel,
  provider,
  part,
});

/** All addresses of a provider: whether receipts tell what came through. */
const told = (of: Group): Group => groupIn(of, null);

const countryOrDomain = (run: Omit<Group, "part">, address: string): Group | null =>
  isContact(run.channel) ? groupIn(run, groupOf(run.channel, address)) : null;

const inAccount = ({ accepted, gone }: Answers<AnsweredGone>, of: Group): Heard => ({
  of,
  fresh: [
    ...gone.map(({ deliveryId }) => ({ deliveryId, isGone: true })),
    ...accepted.map((deliveryId) => ({ deliveryId, isGone: false })),
  ],
  isThrough: false,
});

const inGroups = (gone: readonly { one: AnsweredGone; of: Group | null }[]): Heard[] =>
  gone.flatMap(({ one: { deliveryId }, of }) =>
    of === null ? [] : [{ of, fresh: [{ deliveryId, isGone: true }], isThrough: false }],
  );

/** What came through also counts for the whole account: its provider tells of it. */
const heardOf = ({ of, deliveryId, isGone }: Judged): Heard[] => {
  const heard = { of, fresh: [{ deliveryId, isGone }], isThrough: false };
  return isGone ? [heard] : [heard, { of: told(of), fresh: [], isThrough: true }];
};

/** Where nothing is heard of what came through, all would be doubted. Of messages, receipts tell both or none. */
const isTold = ({ channel }: Group, isAnswer: true | undefined, { isTold: has }: Known): boolean =>
  has || (channel !== "email" && isAnswer !== true);
