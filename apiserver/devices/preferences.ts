import { contactKey } from "#core/channels/addresses.ts";
import { settingsOf } from "#core/domain/apps/settings.ts";
import type { Clock } from "#core/domain/clock.ts";
import { ownHours } from "#core/domain/messages/quiet-hours.ts";
import { personKey } from "#core/domain/people/keys.ts";
import { invalid } from "#core/errors.ts";
import type { Preferences, SetPreferences } from "#core/schema/devices/preferences.ts";
import { suppressionLimits } from "#core/schema/suppressions/suppression.ts";
import { type Channel, channels, isContact } from "#core/schema/vocabulary/channels.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { type OfApp, ofRow } from "#core/storage/mongo/collection.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { Subscriptions } from "#core/storage/people/subscriptions.ts";
import type { UserRow, Users } from "#core/storage/people/users.ts";
import type { SubjectOf } from "#core/storage/suppressions/keys.ts";
import type { Preferences as Wanted } from "#core/storage/suppressions/preferences.ts";
import type { Subject } from "#core/storage/suppressions/suppressions.ts";
import type { PlacedEntry, SuppressionWishes } from "#core/storage/suppressions/wish.ts";
import type { People } from "../people/use-cases.ts";
import { ownerOf } from "./person.ts";

export type PreferenceDeps = Pick<People, "updateUser"> & {
  users: Pick<Users, "find">;
  subscriptions: Pick<Subscriptions, "ofUser">;
  preferences: Pick<Wanted, "set" | "lift">;
  wishes: Pick<SuppressionWishes, "about">;
  subjectsOf: (app: OfApp) => Promise<SubjectOf>;
  clock: Clock;
};

/**
 * What the person of a device wants, by category and channel, and when they are not to be disturbed. What they do not want is an
 * opt-out in the suppression list, about the user. Source: docs/reference/devices.md#preferences.
 */
export const personPreferences = (deps: PreferenceDeps) => {
  const show = async (app: AppRow, owner: UserRow): Promise<Preferences> => {
    const { entries } = await readEntries(deps, owner);
    return { categories: categoriesOf(app, entries), quiet_hours: quietOf(app, owner) };
  };
  return {
    show: async (app: AppRow, own: SubscriptionRow): Promise<Preferences> => show(app, await ownerOf(deps, own)),

    /** @throws ValidationError, before anything is changed; AppError HS_CONFLICT */
    set: async (app: AppRow, own: SubscriptionRow, body: SetPreferences): Promise<Preferences> => {
      const owner = await ownerOf(deps, own);
      const quiet = quietIn(app, body.quiet_hours);
      const { about, entries } = await readEntries(deps, owner);
      const wishes = wishesIn(body.categories ?? {});
      requireRoom(wishes, entries, about);
      const changed =
        quiet === undefined ? owner : await deps.updateUser(owner, { properties: { quiet_hours: quiet } });
      for (const [channel, ofChannel] of wishes) await keep(deps, { about, channel, wishes: ofChannel }, entries);
      return show(app, changed);
    },
  };
};

type About = { of: OfApp; subject: Omit<Subject, "channel"> };
type Wishes = ReadonlyMap<string, boolean>;

/** The entries about a person: under our id, the app's, and their addresses. */
const readEntries = async (
  { subscriptions, subjectsOf, wishes, clock }: PreferenceDeps,
  owner: UserRow,
): Promise<{ about: About; entries: PlacedEntry[] }> => {
  const of = ofRow(owner);
  const [subjectOf, owned] = await Promise.all([subjectsOf(of), subscriptions.ofUser(of, owner._id)]);
  const subject = subjectOf(personKey("user_id", owner._id));
  const keys = new Set([
    ...(owner.external_id === null ? [] : [personKey("external_id", owner.external_id)]),
    ...owned.flatMap(({ channel, token }) => (isContact(channel) ? [contactKey(channel, token)] : [])),
  ]);
  const found = await wishes.about(of, [subject, ...[...keys].map(subjectOf)], clock.now());
  const about = { subject, key: owner._id, address: null, externalId: null, userId: owner._id };
  return { about: { of, subject: about }, entries: found };
};

const isOn = ({ channel }: PlacedEntry, wanted: Channel): boolean => channel === null || channel === wanted;

/** What messages of each category would do: those that the app offers by name, and those that are held back. */
const categoriesOf = (app: AppRow, entries: readonly PlacedEntry[]): Preferences["categories"] => {
  const offered = settingsOf(app).pages.categories.map(({ category }) => category);
  const names = new Set([...offered, ...entries.flatMap(({ categories }) => categories ?? [])]);
  const comes = (category: string, channel: Channel): boolean =>
    !entries.some((one) => isOn(one, channel) && (one.categories === null || one.categories.includes(category)));
  return Object.fromEntries(
    [...names].map((category) => [
      category,
      Object.fromEntries(channels.map((channel) => [channel, comes(category, channel)])),
    ]),
  );
};

/** By channel, whether each category is wanted there. */
const wishesIn = (categories: NonNullable<SetPreferences["categories"]>): Map<Channel, Map<string, boolean>> => {
  const wishes = new Map<Channel, Map<string, boolean>>();
  for (const [category, byChannel] of Object.entries(categories))
    for (const channel of channels) {
      const isWanted = byChannel[channel];
      if (isWanted !== undefined) wishes.set(channel, (wishes.get(channel) ?? new Map()).set(category, isWanted));
    }
  return wishes;
};

/** More categories than an entry may name would be all messages. */
const requireRoom = (wishes: ReadonlyMap<Channel, Wishes>, entries: readonly PlacedEntry[], about: About): void => {
  const limit = suppressionLimits.categories;
  for (const [channel, ofChannel] of wishes) {
    const own = entries.find((one) => one.subject === about.subject.subject && one.channel === channel);
    const held = new Set(own?.categories ?? []);
    for (const [category, isWanted] of ofChannel)
      if (isWanted) held.delete(category);
      else held.add(category);
    if (held.size > limit)
      throw invalid("categories", `at most ${limit} can be held back from a person on ${channel}`, { limit });
  }
};

type Wish = { about: About; channel: Channel; wishes: Wishes };

/** What is wanted again is taken out of every opt-out of theirs; what is not is kept under the user. */
const keep = async (
  { preferences }: PreferenceDeps,
  { about: { of, subject }, channel, wishes }: Wish,
  entries: readonly PlacedEntry[],
): Promise<void> => {
  await preferences.set(of, { ...subject, channel }, wishes, "sdk");
  const others = entries.filter((one) => one.channel === channel && one.subject !== subject.subject);
  for (const { subject: other } of others) await preferences.lift(of, { subject: other, channel }, wishes);
};

/** Quiet hours as they are for the person; null while the app has none. */
const quietOf = (app: AppRow, { properties }: UserRow): Preferences["quiet_hours"] => {
  const { quiet_hours: hours } = settingsOf(app);
  if (!hours.enabled) return null;
  const own = ownHours(hours, properties["quiet_hours"]);
  const { enabled, start, end } = own;
  return { enabled, start, end, own: own !== hours };
};

/** What is stored of quiet hours; undefined: nothing was said. @throws ValidationError */
const quietIn = (app: AppRow, given: SetPreferences["quiet_hours"]) => {
  if (given === undefined || given === null) return given;
  const { quiet_hours: hours } = settingsOf(app);
  if (!hours.enabled) throw invalid("quiet_hours", "the app has none that a person could change");
  const { enabled, start, end } = given;
  if (!enabled && (start ?? end) !== undefined)
    throw invalid(`quiet_hours.${start === undefined ? "end" : "start"}`, "is only of quiet hours that are enabled");
  if (!enabled) return { enabled };
  if (start === undefined || end === undefined)
    throw invalid(
      `quiet_hours.${start === undefined ? "start" : "end"}`,
      "is required of quiet hours that are enabled",
    );
  if (ownHours(hours, { start, end }) === hours)
    throw invalid("quiet_hours.end", "must not be the time at which they start");
  return { start, end };
};
