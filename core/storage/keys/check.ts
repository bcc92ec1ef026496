import type { Db } from "mongodb";
import { keyRing } from "../../runtime/process/key-ring.ts";
import { type KeyUseRow, type Kids, keyUses } from "./uses.ts";

/** Keys that the programs cannot work without, or settings about keys that contradict each other. */
export class MissingKeyError extends Error {
  override name = "MissingKeyError";
}

/**
 * Refuses a key ring without a key that still seals something, unless it is said to be lost, and notes which key is going
 * to seal. Reads one small document for each key, and nothing of what is sealed.
 * @throws MissingKeyError, which says what the key seals and what to do
 */
export const checkKeys = async (db: Db, { ring, lost }: Kids): Promise<void> => {
  const found = lost.find((kid) => ring.includes(kid));
  if (found !== undefined)
    throw new MissingKeyError(`key ${found} is in HERALD_KEY_RING, and named as lost in HERALD_LOST_KEYS`);
  const uses = keyUses(db);
  const missing = (await uses.all()).filter((use) => isNeeded(use) && ![...ring, ...lost].includes(use._id));
  if (missing.length > 0) throw new MissingKeyError(missing.map(whatIsMissing).join("; "));
  const [first] = ring;
  if (first !== undefined) await uses.begin(first);
};

/** The keys that the settings name. */
export const kidsOf = (settings: { keyRing: string; lostKeys: readonly string[] }): Kids => ({
  ring: keyRing(settings.keyRing).kids,
  lost: settings.lostKeys,
});

const isNeeded = ({ is_first, sealed }: KeyUseRow): boolean => is_first || Object.keys(sealed).length > 0;

const whatIsMissing = ({ _id: kid, ...use }: KeyUseRow): string =>
  `the key ring lacks key ${kid}, which ${whatItSeals(use)}: put it back into HERALD_KEY_RING, or, if it is lost, name it ` +
  "in HERALD_LOST_KEYS (docs/operations.md#keys)";

const whatItSeals = ({ sealed, counted_at: at, is_first: isFirst }: Omit<KeyUseRow, "_id">): string => {
  const parts = Object.entries(sealed).map(
    ([collection, { secrets, documents }]) => `${secrets} secrets in ${documents} documents of ${collection}`,
  );
  const counted = parts.length === 0 ? "sealed nothing yet" : `sealed ${parts.join(", ")}`;
  const when = at === null ? "sealed what nobody has counted yet" : `${counted} at ${at.toISOString()}`;
  return isFirst ? `${when} and was the key that seals` : when;
};
