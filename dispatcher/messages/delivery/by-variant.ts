import { settingsOf } from "#core/domain/apps/settings.ts";
import { mergedContent } from "#core/domain/content/merge.ts";
import { isHoldoutOn, isInHoldout, isInTest, variantOf } from "#core/domain/experiments/assignment.ts";
import { drawnBy, stepAt, stepOf } from "#core/domain/experiments/bandit.ts";
import { heldOut } from "#core/domain/experiments/held-out.ts";
import { isTranslated } from "#core/domain/messages/languages.ts";
import type { Reached } from "#core/storage/messages/audience.ts";
import type { MessageRow, MessageVariant } from "#core/storage/messages/message-row.ts";
import type { Sender } from "../../channels/registry.ts";
import type { MessageTemplates, OpenMessage, ReadPeople } from "../../templates/open.ts";
import { type Prepare, prepared } from "./prepare.ts";
import type { Work } from "./work.ts";

/** Which form of a message each recipient gets, and who gets nothing so that its effect can be measured. */
export type Shares = {
  variantOf: (recipient: Reached) => MessageVariant | null;
  /** When the form is chosen that somebody waits for; null when they do not wait. */
  waitsUntil: (recipient: Reached) => Date | null;
  /** Why somebody gets nothing, in words; null when they do. Asked when they would be sent to. */
  heldOutBy: (recipient: Reached) => string | null;
  /** Whether the conversions of those who are sent to are compared with those of others. */
  isMeasured: boolean;
};

/** Null where all recipients get the same. Source: docs/reference/variants.md. */
export const sharesOf = ({ app, message, chunk }: Work, now: Date): Shares | null => {
  const { variants = [], winner, category, live_activity: activity, source, conversation_id: isReply } = message;
  const isAsked = isReply === undefined && activity === undefined;
  const isMeasured = isAsked && source !== "test" && chunk.resend_until === undefined;
  const holdout = isMeasured && app.holdout ? settingsOf(app).holdout : null;
  const of = { appId: app._id, category, at: now };
  const isOn = holdout !== null && isHoldoutOn(holdout, of);
  if (variants.length === 0 && !isOn) return null;
  const known = new Map<string, MessageVariant | null>();
  const variant = ({ user_id: person }: Reached): MessageVariant | null => {
    const found = known.get(person) ?? formFor(message, variantOf(message._id, variants, person), person);
    known.set(person, found);
    return found;
  };
  const isDecided = winner?.decided_at !== undefined;
  return {
    variantOf: variant,
    waitsUntil: (recipient) => (isDecided || variant(recipient) !== null ? null : restFrom(message, recipient.user_id)),
    heldOutBy: (recipient) => {
      if (isOn && isInHoldout(holdout, of, recipient.user_id)) return heldOut.holdout;
      const form = variant(recipient);
      if (form === null && isDecided) return heldOut.undecided;
      return form?.is_control === true ? heldOut.control : null;
    },
    isMeasured: isOn || variants.some(({ is_control: isControl }) => isControl),
  };
};

/** Who does not try the variants gets the one that is chosen, null before that. A control stays one. */
const formFor = (message: MessageRow, drawn: MessageVariant | null, person: string): MessageVariant | null => {
  const { winner, variants } = message;
  if (winner === undefined || !isOfRest(message, drawn, person)) return drawn;
  return (
    (winner.rule === "bandit" ? ofStep(message, person) : variants?.find(({ id }) => id === winner.chosen)) ?? null
  );
};

/** By the weights of the step that somebody is in, once these are made. */
const ofStep = ({ _id, winner, variants = [] }: MessageRow, person: string): MessageVariant | undefined => {
  const weights = winner?.steps?.[winner === undefined ? 0 : stepOf(_id, winner, person)];
  const sent = variants.filter(({ is_control: isControl }) => !isControl);
  return weights === undefined ? undefined : sent[drawnBy(_id, weights, person)];
};

const isOfRest = ({ _id, winner }: MessageRow, drawn: MessageVariant | null, person: string): boolean =>
  winner !== undefined && drawn?.is_control !== true && !isInTest(_id, winner.test_percent, person);

/** When the form is chosen that somebody gets who is not among those who try the variants; null for one of these. */
export const restFrom = (message: MessageRow, person: string): Date | null => {
  const { _id, winner, variants = [] } = message;
  if (winner === undefined || !isOfRest(message, variantOf(_id, variants, person), person)) return null;
  return winner.rule === "bandit" ? stepAt(winner, stepOf(_id, winner, person)) : winner.decides_at;
};

type Preparing = { given: Work; opened: OpenMessage | null; shares: Shares | null; ttlSeconds: number };
type PrepareDeps = { templates: MessageTemplates; sender: Pick<Sender, "prepare"> };

type Form = { id: string | undefined; said: MessageRow; opened: OpenMessage | null };

/**
 * What a message says to its recipients, each in the form that they get; `speaks`: whether it does in several languages,
 * `isPersonal`: whether it says something else to each, for which it reads them.
 */
export const preparing = async (
  { templates, sender }: PrepareDeps,
  { given: { message, app }, opened: plain, shares, ttlSeconds }: Preparing,
): Promise<{ speaks: boolean; isPersonal: boolean; for: (people: ReadPeople) => Promise<Prepare> }> => {
  const others = (message.variants ?? []).filter(({ is_control: isControl }) => !isControl);
  const forms = others.map(async ({ id, content }): Promise<Form> => {
    const said = { ...message, content: mergedContent(content, message.content), variant_id: id };
    const opened = await templates.open(said, app);
    return { id, said: opened?.message ?? said, opened };
  });
  const usual: Form = { id: undefined, said: plain?.message ?? message, opened: plain };
  const all = [usual, ...(await Promise.all(forms))]; // eleven at most
  const idOf = (to: Reached): string | undefined => {
    const variant = shares?.variantOf(to) ?? null;
    return variant === null || variant.is_control ? undefined : variant.id; // nothing is said to a control
  };
  return {
    speaks: all.some(({ said, opened }) => opened?.speaksLanguages ?? isTranslated(said.content)),
    isPersonal: all.some(({ opened }) => (opened?.personal ?? null) !== null),
    for: async (people) => {
      if (all.length === 1) return prepared(sender, { message: usual.said, ttlSeconds, opened: usual.opened }, people);
      const made = await Promise.all(
        all.map(async ({ id, said, opened }): Promise<[string | undefined, Prepare]> => {
          return [id, await prepared(sender, { message: said, ttlSeconds, opened }, people)];
        }),
      );
      const byId = new Map(made);
      return (to, now) => formOf(byId, idOf(to))(to, now);
    },
  };
};

const formOf = (forms: ReadonlyMap<string | undefined, Prepare>, id: string | undefined): Prepare => {
  const form = forms.get(id);
  if (form === undefined) throw new Error(`there is no form ${id}`);
  return form;
};
