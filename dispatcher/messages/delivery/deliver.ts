import { isReplaceable } from "#core/channels/content.ts";
import { mapBounded } from "#core/runtime/batching/bounded.ts";
import type { Reached } from "#core/storage/messages/audience.ts";
import { type ChunkRow } from "#core/storage/messages/chunks.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { Lease } from "../../work/lease.ts";
import { whileOpen } from "../gates/all.ts";
import { badgesOf } from "./badges.ts";
import { preparing, type Shares, sharesOf } from "./by-variant.ts";
import type { DeliverDeps } from "./deliver-deps.ts";
import { deliveryIdOf } from "./delivery-row.ts";
import { expiry } from "./expiry.ts";
import { goneBefore, judged } from "./gone.ts";
import type { Later } from "./later.ts";
import { attempt, isEnded, isFree, type Run } from "./one.ts";
import { inLanguages, reachedFirst } from "./order.ts";
import { peopleOf } from "./people.ts";
import type { Delivered, Work } from "./work.ts";

/** Recipients of one chunk under way at once: two chunks fill the window, so that a small message finds room. */
const chunkConcurrency = 64;

/**
 * Sends a chunk to each recipient that has no delivery yet, and stores each outcome as it comes. Once the lease is over
 * no further recipient is begun, and what is under way is finished and stored.
 */
export const deliver =
  (deps: DeliverDeps) =>
  async (given: Work, { isOver }: Pick<Lease, "isOver">): Promise<Delivered> => {
    const opened = await deps.templates.open(given.message, given.app);
    const work = opened === null ? given : { ...given, message: opened.message };
    const { chunk, message, app } = work;
    const shares = sharesOf(work, deps.clock.now());
    const ids = new Map(chunk.recipients.map((id) => [id, deliveryIdOf(chunk.message_id, id)]));
    const [stored, subscriptions, sender] = await Promise.all([
      isFirstRun(chunk) ? [] : deps.deliveries.existing([...ids.values()]),
      work.rows ?? deps.recipients.load(chunk.recipients),
      deps.senders.of(app, chunk.channel),
    ]);
    const done = new Set(stored.map((row) => row.subscription_id));
    const left = subscriptions.filter((row) => ids.has(row._id) && !done.has(row._id));
    const [rest, later] = apart(work, shares, left, deps.clock.now());
    const expiresAt = expiry(chunk, message, deps.clock.now());
    const ttlSeconds = Math.max(0, Math.floor((expiresAt.getTime() - deps.clock.now().getTime()) / 1000));
    const forms = await preparing({ ...deps, sender }, { given, opened, shares, ttlSeconds });
    const recipients = reachedFirst(forms.speaks ? await inLanguages(deps, rest) : rest, sender);
    const drawn = deps.random();
    const people = peopleOf(deps.recipients, rest);
    const run: Omit<Run, "suppressed" | "slots" | "badges" | "inbox"> = {
      shares,
      caps: deps.caps(work, (one) => isHeldOut(shares, one)),
      deps,
      work,
      isOver,
      delivered: nothingYet(stored, later),
      ids,
      quiet: await deps.quietHours(work, rest, forms.isPersonal ? people : undefined),
      prepare: await forms.for(people),
      provider: sender.name,
      capacity: sender.capacity,
      expiresAt,
      isReplaceable: isReplaceable(chunk.channel, message.options),
      gone: goneBefore(stored, subscriptions),
      random: () => drawn,
    };
    await whileOpen(
      deps.gates,
      { message, recipients: rest, chunk, everyMs: deps.gatesEveryMs },
      async (suppressed) => {
        const sendable = await takePlaces({ ...run, suppressed }, rest);
        const slots = deps.throttle(message, chunk, sendable.length); // who is held out takes theirs, too
        const said = sendable.filter((one) => !isHeldOut(shares, one));
        const badges = await badgesOf(deps.recipients.badges, work, deps.clock.now() < expiresAt ? said : []);
        const open = { ...run, suppressed, slots, badges, inbox: deps.inbox(work) };
        await mapBounded(recipients, chunkConcurrency, (subscription) => serve(open, subscription));
      },
    );
    await run.caps?.giveBack(notSent(run.delivered));
    return { ...run.delivered, ...(await judged(deps.guard, run, deps.clock.now())) };
  };

const nothingYet = (stored: DeliveryRow[], later: Later[]): Delivered => ({
  stored,
  fresh: [],
  again: [],
  invalid: [],
  doubted: 0,
  halted: false,
  ...(later.length > 0 && { later }),
});

const retryMs = 15_000;

/** Those who wait until a form is chosen are sent to then, or soon after if that is late. */
const apart = (
  { message: { winner } }: Work,
  shares: Shares | null,
  recipients: readonly Reached[],
  now: Date,
): [rest: Reached[], later: Later[]] => {
  if (shares === null || winner === undefined || winner.decided_at !== undefined) return [[...recipients], []];
  const soon = new Date(now.getTime() + retryMs);
  const [rest, later]: [Reached[], Later[]] = [[], []];
  for (const subscription of recipients) {
    const at = shares.waitsUntil(subscription);
    if (at === null) rest.push(subscription);
    else later.push({ subscription, at: at > now ? at : soon });
  }
  return [rest, later];
};

const isHeldOut = (shares: Shares | null, one: Reached): boolean => (shares?.heldOutBy(one) ?? null) !== null;

/** Takes the places under caps of those who are not left out for another reason; gives whom none of both holds back. */
const takePlaces = async (
  { deps: { clock }, caps, quiet, suppressed, expiresAt }: Omit<Run, "slots" | "badges" | "inbox">,
  recipients: readonly Reached[],
): Promise<Reached[]> => {
  const open = recipients.filter((one) => suppressed(one) === null);
  const now = clock.now();
  if (now < expiresAt) await caps?.take(quiet === null ? open : open.filter((one) => quiet.untilOf(one, now) === null));
  return caps === null ? open : open.filter((one) => !caps.isHeldBack(one));
};

/** Whom nothing was sent to, and who is not tried again. */
const notSent = ({ stored, later = [] }: Delivered): Pick<DeliveryRow, "user_id" | "subscription_id">[] => [
  ...stored.filter(
    ({ status, sent_at: at, suppression_reason: reason }) =>
      at === undefined && status !== "scheduled" && reason !== "frequency_cap",
  ),
  ...later.map(({ subscription: { _id, user_id } }) => ({ subscription_id: _id, user_id })),
];

/** Nobody ran these recipients before, so that none of them can have a delivery. */
const isFirstRun = ({ fence, may_overlap, has_rows: hasRows }: ChunkRow): boolean =>
  fence === 1 && !may_overlap && hasRows !== true;

/** Serves one recipient: it is suppressed, expired, or attempted and stored within the window of unsaved ones. */
const serve = async (run: Run, subscription: Reached): Promise<void> => {
  const { isOver, delivered } = run;
  if (isOver()) return void (delivered.halted = true);
  if (!isFree(run, subscription) && (await isEnded(run, subscription))) return;
  if ((await run.slots?.take()) === false) return void (delivered.halted = true);
  await handOver(run, subscription).finally(() => run.slots?.answered());
};

/** Waits for a place, and attempts it if that is still wanted. */
const handOver = async (run: Run, subscription: Reached): Promise<void> => {
  const { deps, work, isOver, delivered, capacity } = run;
  if ((await capacity?.turn?.(deps.stopping)) === false) return void (delivered.halted = true);
  const begin = async (): Promise<void> => {
    if (isOver())
      delivered.halted = true; // while it waited for its slot
    else if (!isFree(run, subscription) && (await isEnded(run, subscription))) return;
    else if ((await work.begin?.()) === false) delivered.halted = true;
    else await attempt(run, subscription);
  };
  const { tenant_id: tenantId, _id: appId } = work.app;
  return deps.window.slot({ tenantId, account: `${appId}/${work.chunk.channel}`, atOnce: capacity?.atOnce }, begin);
};
