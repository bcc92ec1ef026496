import { settingsOf } from "#core/domain/apps/settings.ts";
import type { Clock } from "#core/domain/clock.ts";
import { capsOn, countedSince, longestMs } from "#core/domain/messages/caps.ts";
import { isKnownZone } from "#core/domain/messages/local-time.ts";
import type { FrequencyCap } from "#core/schema/apps/frequency-cap.ts";
import type { Reached } from "#core/storage/messages/audience.ts";
import type { CapQuestion, CapTakes } from "#core/storage/messages/cap-takes.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import type { ZonesOf } from "#core/storage/people/zones.ts";
import type { Work } from "../delivery/work.ts";

export type CapDeps = {
  takes: Pick<CapTakes, "take" | "giveBack">;
  zonesOf: ZonesOf;
  /** Of the users of these addresses those whom another one on the channel may reach. */
  reachedElsewhere: (chunk: Work["chunk"], of: readonly Address[]) => Promise<Set<string>>;
  clock: Clock;
};

type Address = Pick<DeliveryRow, "user_id" | "subscription_id">;

/** The frequency caps of a run. */
export type Caps = {
  /** Takes the places of many at once. */
  take: (recipients: readonly Reached[]) => Promise<void>;
  /** The cap that holds a recipient back, in words; null when they have their place. Takes it for who has not been asked about. */
  heldBackBy: (recipient: Reached) => Promise<string | null>;
  /** Whether one was asked about and is held back. */
  isHeldBack: (recipient: Reached) => boolean;
  /** Whether one was asked about and is not held back. */
  isFree: (recipient: Reached) => boolean;
  /** Gives back the places of those who were not sent to after all, in this run or an earlier one. */
  giveBack: (notSent: readonly Address[]) => Promise<void>;
};

/** Who is only looked at: they are sent nothing. */
export type IsLookedAt = (recipient: Reached) => boolean;

/**
 * The caps that recipients of a run fall under; null where there are none. Places are taken right before the sends of a run,
 * for all of it at once: a message that has its place keeps it, so that this may happen again after a kill.
 * Source: docs/reference/timing.md#frequency-caps.
 */
export const frequencyCaps =
  (deps: CapDeps) =>
  (work: Work, isLookedAt: IsLookedAt): Caps | null => {
    const caps = capsOf(work);
    if (caps.length === 0) return null;
    const known = new Map<string, string | null>();
    const placeless = new Set<string>(); // who was asked about, and took none
    const ask = async (recipients: readonly Reached[], isLook: boolean): Promise<void> => {
      if (recipients.length === 0) return;
      const held = await askAbout(deps, { work, caps, isLook }, recipients);
      for (const { _id } of recipients) {
        known.set(_id, held.get(_id) ?? null);
        if (isLook || held.has(_id)) placeless.add(_id);
      }
    };
    const take = async (recipients: readonly Reached[]): Promise<void> => {
      const { true: looked = [], false: taking = [] } = Object.groupBy(
        recipients,
        (one) => `${isLookedAt(one)}` as const,
      );
      await Promise.all([ask(looked, true), ask(taking, false)]);
    };
    return {
      take,
      heldBackBy: async (recipient) => {
        if (!known.has(recipient._id)) await take([recipient]);
        return known.get(recipient._id) ?? null;
      },
      isHeldBack: ({ _id }) => typeof known.get(_id) === "string",
      isFree: ({ _id }) => known.get(_id) === null,
      giveBack: async (notSent) => {
        const ofEarlier = work.chunk.fence > 1 || work.chunk.may_overlap;
        const places = notSent.filter(({ subscription_id: id }) => !placeless.has(id) && (ofEarlier || known.has(id)));
        if (places.length > 0) await giveBack(deps, { work, caps }, places);
      },
    };
  };

/** Source: docs/reference/timing.md#frequency-caps. */
const capsOf = ({ app, message, chunk }: Work): FrequencyCap[] => {
  if ((app.frequency_caps ?? []).length === 0 || chunk.resend_until !== undefined) return [];
  const isNeverCapped = message.live_activity !== undefined || message.source === "test";
  return capsOn(settingsOf(app), { category: message.category, channel: chunk.channel, isNeverCapped });
};

type Asking = { work: Work; caps: readonly FrequencyCap[]; isLook: boolean };
const scopes = ["subscription", "user"] as const;

/** By subscription the cap that holds it back. Caps of addresses come first: only what these let through counts for a person. */
const askAbout = async (
  deps: CapDeps,
  asking: Asking,
  recipients: readonly Reached[],
): Promise<ReadonlyMap<string, string>> => {
  const sinceOf = await startsOf(deps, asking, recipients);
  const held = new Map<string, string>();
  for (const scope of scopes) {
    const caps = asking.caps.filter((cap) => cap.scope === scope);
    const left = recipients.filter(({ _id }) => !held.has(_id));
    if (caps.length === 0 || left.length === 0) continue;
    const idOf = ({ _id, user_id: userId }: Reached): string => (scope === "user" ? userId : _id);
    const people = new Map(left.map((one) => [idOf(one), { id: idOf(one), since: sinceOf(one, caps) }]));
    const full = await deps.takes.take({ ...questionOf(deps, asking), caps, people: [...people.values()] });
    for (const one of left) {
      const cap = full.get(idOf(one));
      if (cap !== undefined) held.set(one._id, cap);
    }
  }
  if (!asking.isLook) await giveBackAddresses(deps, asking, [...held.keys()]);
  return held;
};

/** Of one whom a cap of their person holds back no address keeps a place. */
const giveBackAddresses = async ({ takes }: CapDeps, { work, caps }: Asking, ids: readonly string[]): Promise<void> => {
  if (caps.some(({ scope }) => scope === "subscription")) await takes.giveBack(ofRow(work.chunk), placeOf(work), ids);
};

const questionOf = ({ clock }: CapDeps, { work, isLook }: Asking): Omit<CapQuestion, "caps" | "people"> => {
  const { message, chunk, app } = work;
  const isCounted = message.options.frequency_cap_exempt === true;
  return {
    of: ofRow(chunk),
    message: { id: message._id, channel: chunk.channel, category: message.category },
    mode: isLook ? "look" : isCounted ? "count" : "take",
    now: clock.now(),
    longestMs: longestMs(settingsOf(app).frequency_caps),
  };
};

/** Since when messages count for a recipient; zones are read only where a calendar decides. */
const startsOf = async (
  { zonesOf, clock }: CapDeps,
  { work: { app }, caps }: Asking,
  recipients: readonly Reached[],
): Promise<(of: Reached, caps: readonly FrequencyCap[]) => Date[]> => {
  const now = clock.now();
  const clocks = caps.some(({ window }) => window === "calendar") ? await zonesOf(recipients) : null;
  const appZone = settingsOf(app).time_zone;
  const zoneOf = (zone: string | null = null): string => (zone !== null && isKnownZone(zone, now) ? zone : appZone);
  const known = new Map<string, Date>();
  const since = (cap: FrequencyCap, zone: string): Date => {
    const key = `${cap.window} ${cap.per} ${cap.window === "rolling" ? "" : zone}`;
    const at = known.get(key) ?? countedSince(cap, zone, now);
    known.set(key, at);
    return at;
  };
  return ({ _id }, of) => of.map((cap) => since(cap, zoneOf(clocks?.get(_id)?.zone)));
};

const placeOf = ({ message, chunk }: Work) => ({ message_id: message._id, channel: chunk.channel });

/** A person keeps the place that another of their addresses may need. */
const giveBack = async (
  { takes, reachedElsewhere }: CapDeps,
  { work, caps }: Pick<Asking, "work" | "caps">,
  notSent: readonly Address[],
): Promise<void> => {
  const of = ofRow(work.chunk);
  const has = (scope: FrequencyCap["scope"]): boolean => caps.some((cap) => cap.scope === scope);
  if (has("subscription"))
    await takes.giveBack(
      of,
      placeOf(work),
      notSent.map(({ subscription_id: id }) => id),
    );
  if (!has("user")) return;
  const kept = await reachedElsewhere(work.chunk, notSent);
  const users = new Set(notSent.flatMap(({ user_id: id }) => (id === null || kept.has(id) ? [] : [id])));
  await takes.giveBack(of, placeOf(work), [...users]);
};
