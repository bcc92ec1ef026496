import { hash } from "node:crypto";
import { type Collection, type Db, type Document, type Filter } from "mongodb";
import { capInWords } from "../../domain/messages/caps.ts";
import type { FrequencyCap } from "../../schema/apps/frequency-cap.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import { type CollectionSpec, collectionOf, type OfApp } from "../mongo/collection.ts";
import { insertMissing, retryConflicts } from "../mongo/duplicate.ts";
import { idsBehind } from "../mongo/page-range.ts";
import type { OnPage } from "../mongo/pages.ts";
import { removedAtOnce, removePages } from "../work/removal-pages.ts";

/** What the frequency caps of an app have counted for a person, or for one of their addresses. Source: docs/decisions/0118. */
export type CapTakeRow = { _id: string; app_id: string; takes: CapTake[]; expires_at: Date };

/** A message that was sent to them, or is about to be: it counts once on each channel. */
export type CapTake = { message_id: string; channel: Channel; category: string | null; at: Date };

export const capTakeCollection: CollectionSpec = {
  name: "cap_takes",
  indexes: [],
  former: ["retention"],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { remove: (db, { appId }, onPage) => removeTakes(db, appId, onPage) },
  erasure: { kept: "ids of messages alone, under a hash, for as long as a cap counts them" },
  retention: { kept: "until nothing of it counts any more: dispatcher/clean-up/caps.ts" },
};

/** Who is asked about: `id` of a user or a subscription, and since when each cap counts for them. */
export type Capped = { id: string; since: readonly Date[] };

export type CapQuestion = {
  of: OfApp;
  message: { id: string; channel: Channel; category: string | null };
  caps: readonly FrequencyCap[];
  people: readonly Capped[];
  /** `take`: where no cap is full; `count`: also where one is; `look`: nowhere. */
  mode: "take" | "count" | "look";
  now: Date;
  /** How long anything counts for any cap of the app, ms. */
  longestMs: number;
};

export type CapTakes = ReturnType<typeof capTakes>;

export const capTakes = (db: Db) => {
  const rows = collectionOf<CapTakeRow>(db, capTakeCollection);
  return {
    /** Takes a place for a message under every cap of each of these people, or of none where one is full: gives those, and the cap in words. */
    take: (question: CapQuestion): Promise<Map<string, string>> => takeAll(rows, question),

    /** Gives the places of a message back. */
    giveBack: async ({ appId }: OfApp, message: Pick<CapTake, "message_id" | "channel">, ids: readonly string[]) => {
      const { message_id, channel } = message;
      const of = { _id: { $in: ids.map((id) => rowId(appId, id)) }, "takes.message_id": message_id };
      if (ids.length > 0)
        await retryConflicts(() => rows.updateMany(of, { $pull: { takes: { message_id, channel } } }));
    },

    /** Removes what counts no longer, a page of the collection after another. @throws what `onPage` throws */
    removeExpired: (now: Date, onPage: OnPage): Promise<void> => removeExpired(rows, now, onPage),

    /** What is counted for these ids of one person. */
    counted: async ({ appId }: OfApp, ids: readonly string[]): Promise<CapTake[]> =>
      (await rows.find({ _id: { $in: ids.map((id) => rowId(appId, id)) } }).toArray()).flatMap(({ takes }) => takes),
  };
};

const takeAll = async (rows: Collection<CapTakeRow>, question: CapQuestion): Promise<Map<string, string>> => {
  const full = new Map<string, string>();
  let left = new Map(question.people.map((one) => [rowId(question.of.appId, one.id), one]));
  if (left.size === 0 || (await takeOfFew(rows, [...left.keys()], question))) return full;
  for (let round = 0; left.size > 0; round++) {
    if (round === mostRounds) throw new Error("caps: others keep changing what is counted for the same people");
    const found = new Map((await read(rows, [...left.keys()])).map((row) => [row._id, row]));
    const [absent, open]: [Asked[], Asked[]] = [[], []];
    for (const [id, person] of left) {
      const row = found.get(id);
      const reason = row === undefined ? null : fullIn(row, person, question);
      if (reason !== null) full.set(person.id, reason);
      else if (row === undefined) absent.push([id, person]);
      else if (!isCounted(row, question)) open.push([id, person]);
    }
    if (question.mode === "look") return full;
    left = new Map([...(await insert(rows, absent, question)), ...(await update(rows, open, question))]);
  }
  return full;
};

/** Two dispatchers that send to the same people take turns within two or three. */
const mostRounds = 10;

/**
 * Takes a place for those of whom less is counted, old and new, than the smallest cap allows: one write, for which neither they
 * are read nor anything is computed of each. True when these are all.
 */
const takeOfFew = async (rows: Collection<CapTakeRow>, ids: string[], question: CapQuestion): Promise<boolean> => {
  const { caps, mode, now, longestMs, message } = question;
  const room = mode === "count" ? mostTakes : Math.min(mostTakes, ...caps.map(({ max }) => max));
  if (mode === "look" || room < 2) return false; // of one place, only who was given theirs back has room like this
  const filter = {
    _id: { $in: ids },
    [`takes.${room - 1}`]: { $exists: false },
    "takes.message_id": { $ne: message.id },
  } as Filter<CapTakeRow>; // sound: `takes` is an array
  const change = { $push: { takes: takeOf(question) }, $set: { expires_at: new Date(now.getTime() + longestMs) } };
  const { matchedCount } = await retryConflicts(() => rows.updateMany(filter, change));
  return matchedCount === ids.length;
};

type Asked = [string, Capped];

const read = (rows: Collection<CapTakeRow>, ids: readonly string[]): Promise<CapTakeRow[]> =>
  rows.find({ _id: { $in: [...ids] } }, { projection: { takes: 1 }, batchSize: ids.length + 1 }).toArray();

const isCounted = ({ takes }: CapTakeRow, { message: { id, channel } }: CapQuestion): boolean =>
  takes.some((take) => take.message_id === id && take.channel === channel);

/** The cap that is full, in words. A message that has its place already keeps it. */
const fullIn = (row: CapTakeRow, { since }: Capped, question: CapQuestion): string | null => {
  if (question.mode === "count" || isCounted(row, question)) return null;
  const full = question.caps.find(
    (cap, i) => row.takes.filter((take) => counts(cap, take, since[i])).length >= cap.max,
  );
  if (full !== undefined) return capInWords(full);
  return row.takes.length < mostTakes ? null : `more than ${mostTakes} messages are counted`;
};

const counts = ({ channels, categories }: FrequencyCap, take: CapTake, since = new Date(0)): boolean =>
  take.at >= since &&
  (channels === null || channels.includes(take.channel)) &&
  (categories === null || (take.category !== null && categories.includes(take.category)));

const takeOf = ({ message: { id, channel, category }, now }: CapQuestion): CapTake => ({
  message_id: id,
  channel,
  category,
  at: now,
});

/** The first that is counted for somebody; gives those for whom another was quicker. */
const insert = async (
  rows: Collection<CapTakeRow>,
  absent: readonly Asked[],
  question: CapQuestion,
): Promise<Asked[]> => {
  if (absent.length === 0) return [];
  const { now, longestMs, of } = question;
  const common = { app_id: of.appId, takes: [takeOf(question)], expires_at: new Date(now.getTime() + longestMs) };
  const known = await insertMissing(
    rows,
    absent.map(([_id]) => ({ _id, ...common })),
  );
  return absent.filter(([id]) => known.has(id));
};

/** One more for each of these, where the store still finds no cap full; gives those of whom that is to be read. */
const update = async (
  rows: Collection<CapTakeRow>,
  open: readonly Asked[],
  question: CapQuestion,
): Promise<Asked[]> => {
  const { now, longestMs } = question;
  const left: Asked[] = [];
  for (const group of Map.groupBy(open, ([, { since }]) => since.map(Number).join()).values()) {
    const ids = group.map(([id]) => id);
    const change = [
      {
        $set: {
          takes: { $slice: [{ $concatArrays: [stillCounted(question), [takeOf(question)]] }, -mostTakes] },
          expires_at: new Date(now.getTime() + longestMs),
        },
      },
    ];
    const filter: Filter<CapTakeRow> = { _id: { $in: ids }, $expr: hasRoom(question, group[0]?.[1].since ?? []) };
    const { matchedCount } = await retryConflicts(() => rows.updateMany(filter, change));
    if (matchedCount < group.length) left.push(...group);
  }
  return left;
};

const stillCounted = ({ now, longestMs }: CapQuestion): Document =>
  takesWhere([{ $gt: ["$$this.at", new Date(now.getTime() - longestMs)] }]);

const takesWhere = (conditions: Document[]): Document => ({ $filter: { input: "$takes", cond: { $and: conditions } } });

/** The same as {@link fullIn}, for the store, which alone sees what others do at the same moment. */
const hasRoom = ({ message, caps, mode }: CapQuestion, since: readonly Date[]): Document => {
  const ofMessage = takesWhere([
    { $eq: ["$$this.message_id", message.id] },
    { $eq: ["$$this.channel", message.channel] },
  ]);
  const isNew = { $eq: [{ $size: ofMessage }, 0] };
  if (mode === "count") return isNew;
  const rooms = caps.map(({ channels, categories, max }, i) => {
    const counted = takesWhere([
      { $gte: ["$$this.at", since[i] ?? new Date(0)] },
      ...(channels === null ? [] : [{ $in: ["$$this.channel", channels] }]),
      ...(categories === null ? [] : [{ $in: ["$$this.category", categories] }]),
    ]);
    return { $lt: [{ $size: counted }, max] };
  });
  return { $and: [isNew, { $lt: [{ $size: "$takes" }, mostTakes] }, ...rooms] };
};

/** Bounds a document, which stays below 200 KB. Caps count 1,000 at most. */
const mostTakes = 2_000;

/** Of one app, and of a person by a hash: the ids say nothing of somebody who is erased. */
const rowId = (appId: string, id: string): string => `${appId}/${hash("sha256", id, "base64url").slice(0, 22)}`;

const removeExpired = async (rows: Collection<CapTakeRow>, now: Date, onPage: OnPage): Promise<void> => {
  for (let page = await endsBehind(rows, ""); page.length > 0; page = await endsBehind(rows, page.at(-1)?._id ?? "")) {
    const ids = page.filter(({ expires_at: at }) => at <= now).map(({ _id }) => _id);
    if (ids.length > 0) await rows.deleteMany({ _id: { $in: ids }, expires_at: { $lte: now } });
    onPage(ids.length);
  }
};

/** When each of a page behind an id ends, in the order of their ids. */
const endsBehind = (rows: Collection<CapTakeRow>, id: string): Promise<Pick<CapTakeRow, "_id" | "expires_at">[]> =>
  rows
    .find({ _id: idsBehind("app", id) }, { projection: { expires_at: 1 }, batchSize: removedAtOnce + 1 })
    .sort({ _id: 1 })
    .limit(removedAtOnce)
    .toArray();

const removeTakes = async (db: Db, appId: string, onPage?: OnPage): Promise<number> => {
  const filter = { _id: { $gte: `${appId}/`, $lt: `${appId}0` } }; // 0 comes behind the stroke
  await removePages(collectionOf<CapTakeRow>(db, capTakeCollection), { filter, hint: "_id_", pages: Infinity, onPage });
  return 0;
};
