import { setImmediate as endOfTurn } from "node:timers/promises";
import { type HmsPush, type HmsRecipients, hmsBody } from "#core/channels/hms-push/render.ts";
import { NotBegun, type Outcome } from "#core/domain/messages/outcome.ts";

/** What the recipients of one request share. */
export type Shared = Omit<HmsRecipients, "tokens"> & { push: HmsPush; signal: AbortSignal };

export type Member = { token: string; isOver: () => boolean };

/** A request to some members of a batch. It is over when one of them is, as it cannot be sent without that one. */
export type BatchRequest = Shared & { tokens: string[]; isOver: () => boolean };

/** What became of each token of a request. */
export type OutcomeFor = (token: string) => Outcome;

const maxTokens = 1_000; // in a request. Source: Huawei, Push Kit, "Sending Downlink Messages"
const maxBodyBytes = 16_000; // of a request: our HTTP/2 client writes a body as one frame

/** Throws NotBegun for a member that the request went out without. */
type Answered = (member: Member) => Outcome;

type PushBatch = Shared & { members: Member[]; freeBytes: number; answered: Promise<Answered> };

/**
 * Gathers tokens that are given in one turn of the event loop and share all else, as many as fit into a request. Those
 * that are over before it goes out are left out of it.
 */
export const batches = (request: (wanted: BatchRequest) => Promise<OutcomeFor>) => {
  let open: PushBatch[] = [];
  const ask = async (shared: Shared, members: readonly Member[]): Promise<Answered> => {
    const present = members.filter((one) => !one.isOver());
    if (present.length === 0) throw new NotBegun();
    const tokens = present.map(({ token }) => token);
    const isOver = (): boolean => present.some((one) => one.isOver());
    try {
      const outcomeFor = await request({ ...shared, tokens, isOver });
      const asked = new Set(present);
      return (member) => {
        if (!asked.has(member)) throw new NotBegun();
        return outcomeFor(member.token);
      };
    } catch (error) {
      if (error instanceof NotBegun && isOver()) return ask(shared, present); // without those who are over by now
      throw error;
    }
  };
  const begin = (shared: Shared): PushBatch => {
    const members: Member[] = [];
    const answered = endOfTurn().then(() => {
      open = [];
      return ask(shared, members);
    });
    const freeBytes = maxBodyBytes - Buffer.byteLength(hmsBody(shared.push, { ...shared, tokens: [] }));
    const batch = { ...shared, members, freeBytes, answered };
    open.push(batch);
    return batch;
  };
  return async (shared: Shared, member: Member): Promise<Outcome> => {
    const batch = open.findLast((one) => takes(one, shared, member)) ?? begin(shared);
    batch.members.push(member);
    batch.freeBytes -= bytesOf(member);
    return (await batch.answered)(member);
  };
};

/** With its quotes and a comma. */
const bytesOf = ({ token }: Member): number => token.length + 3;

const takes = (batch: PushBatch, { push, tag, badge, signal }: Shared, member: Member): boolean =>
  batch.push === push &&
  batch.tag === tag &&
  batch.badge === badge &&
  batch.signal === signal &&
  batch.members.length < maxTokens &&
  bytesOf(member) <= batch.freeBytes;
