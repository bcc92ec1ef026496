import type { Random } from "#core/domain/backoff.ts";
import type { Clock } from "#core/domain/clock.ts";
import type { Reached } from "#core/storage/messages/audience.ts";
import type { ChunkRow } from "#core/storage/messages/chunks.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { TemplatePerson } from "#core/storage/templates/people.ts";
import type { Senders } from "../../channels/registry.ts";
import type { Guard } from "../../suppressions/guard.ts";
import type { MessageTemplates, ReadPeople } from "../../templates/open.ts";
import type { Gate } from "../gates/gate.ts";
import type { Caps, IsLookedAt } from "../timing/caps.ts";
import type { Quiet } from "../timing/quiet.ts";
import type { Slots } from "../timing/throttle.ts";
import type { BadgesOf } from "./badges.ts";
import type { WriteItem } from "./inbox.ts";
import type { Recorded } from "./record.ts";
import type { Window } from "./window.ts";
import type { Work } from "./work.ts";

/** What sending a chunk uses. */
export type DeliverDeps = {
  recipients: {
    load: (ids: readonly string[]) => Promise<Reached[]>;
    /** The languages of those of these users who have one. */
    languages: (userIds: readonly string[]) => Promise<ReadonlyMap<string, string>>;
    /** What templates and quiet hours look at of these users. */
    people: (userIds: readonly string[]) => Promise<ReadonlyMap<string, TemplatePerson>>;
    /** Changes the badges of their apps, once for each message; gives those that it added to. */
    badges: BadgesOf;
  };
  deliveries: {
    existing: (ids: readonly string[]) => Promise<DeliveryRow[]>;
    record: (row: DeliveryRow) => Promise<Recorded>;
  };
  /** What messages say that take a template. */
  templates: MessageTemplates;
  gates: readonly Gate[];
  /** How often they are opened anew, ms; left out: as they say themselves. */
  gatesEveryMs?: number;
  senders: Pick<Senders, "of">;
  guard: Pick<Guard, "ofAnswers">;
  /** Bounds the recipients that are sent to and not stored. */
  window: Pick<Window, "slot">;
  /** The quiet hours for the recipients of a run; null where there are none. Users are read by `people` where it is given. */
  quietHours: (work: Work, recipients: readonly Reached[], people?: ReadPeople) => Promise<Quiet | null>;
  /** The frequency caps that the recipients of a run fall under; null where there are none. */
  caps: (work: Work, isLookedAt: IsLookedAt) => Caps | null;
  /** What writes the inboxes of the recipients of a run; null where its message is not kept there. */
  inbox: (work: Work) => WriteItem | null;
  /** Gives the recipients of a chunk instants of their own, where its message is throttled. */
  throttle: (message: MessageRow, chunk: ChunkRow, recipients: number) => Slots | null;
  /** Aborts when nothing new is to be begun: nobody waits for the pace of an account any more. */
  stopping: AbortSignal;
  /** Aborts when the program can wait no longer: what is under way is cut off, and stored as what is known of it. */
  cut: AbortSignal;
  clock: Clock;
  random: Random;
};
