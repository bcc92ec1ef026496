import type { TwilioCredentials } from "#core/channels/kit/twilio/account.ts";
import type { Clock } from "#core/domain/clock.ts";
import { type Outcome, unreached } from "#core/domain/messages/outcome.ts";
import { type ContentTemplates, contentTemplateId } from "#core/storage/content-templates/content-templates.ts";
import type { RestTransports } from "../../../net/guarded/rest.ts";
import { providerOrigin } from "../../../net/transport.ts";
import type { AppOfAccount } from "../provider.ts";
import { basicOf, type Cutting } from "./messages.ts";
import { twilioOutcome } from "./outcomes.ts";

export type TemplatesDeps = {
  app: AppOfAccount;
  credentials: TwilioCredentials;
  /** `https://content.twilio.com`; https unless loopback. */
  contentUrl: string;
  templates: ContentTemplates;
  rest: RestTransports;
  clock: Clock;
  timeoutMs: number;
};

/** What a message says, as a Content template. */
export type Template = { language: string; types: object };

/** Of a message that names a template which is gone: core/channels/kit/twilio/errors.ts. */
const unknownTemplate = "21655";

/** The SID of a Content template, or why there is none. */
export type Made = { kind: "made"; sid: string } | Outcome;

/**
 * Content templates for what messages say: each is made once in an account, and known by its hash from then on. Twilio sends
 * cards, buttons and lists in no other way. Source: twilio.com/docs/content/content-api-resources, "Create Templates".
 */
export const contentTemplatesOf = (deps: TemplatesDeps) => {
  const { app, credentials, contentUrl, templates, rest, clock, timeoutMs } = deps;
  const transport = rest.open({ origin: providerOrigin(contentUrl) });
  const headers = { authorization: basicOf(credentials), "content-type": "application/json" };

  const create = async (id: string, { language, types }: Template, ...[signal, isOver]: Cutting): Promise<Made> => {
    const body = JSON.stringify({ friendly_name: `herald ${id}`, language, types });
    const result = await transport.request({ path: "/v1/Content", headers, body, timeoutMs, signal, isOver });
    const now = clock.now();
    if (result.kind !== "answer") return unreached(result.reason, new Date(now.getTime() + pauseMs), "provider");
    const made = twilioOutcome(result, now);
    if (made.kind !== "sent") return made;
    if (made.providerId === null) return unreached("Twilio gave a Content template no SID", now, "provider");
    const row = { _id: id, tenant_id: app.tenantId, app_id: app.appId, provider_id: made.providerId, created_at: now };
    const isFirst = await templates.keep(row);
    const sid = isFirst ? made.providerId : ((await templates.find(id)) ?? made.providerId);
    return { kind: "made", sid };
  };
  const find = async (template: Template, ...cutting: Cutting): Promise<Made> => {
    const id = idOf(template);
    const known = await templates.find(id);
    return known === null ? create(id, template, ...cutting) : { kind: "made", sid: known };
  };
  const idOf = (template: Template): string =>
    contentTemplateId(app.appId, credentials.account_sid, JSON.stringify(template));
  const shared = new WeakMap<Template, Promise<Made>>();

  return {
    /**
     * Finds the template of a message, or makes it, for all of its recipients at once. No message is under way yet: what
     * fails is tried again by the next recipient.
     */
    sidOf: (template: Template, ...cutting: Cutting): Promise<Made> => {
      const made = shared.get(template) ?? find(template, ...cutting);
      shared.set(template, made);
      const forget = (): void => void shared.delete(template);
      made.then((one) => (one.kind === "made" ? undefined : forget()), forget);
      return made;
    },
    /** What a message with the template came to: one that somebody has removed is made again for the next try. */
    madeAgain: async (template: Template, outcome: Outcome): Promise<Outcome> => {
      if (outcome.kind !== "payload_error" || outcome.providerCode !== unknownTemplate) return outcome;
      shared.delete(template);
      await templates.forget(idOf(template));
      return { ...outcome, kind: "retry_at", code: "PROVIDER_UNAVAILABLE", at: clock.now() };
    },
    close: transport.close,
  };
};

const pauseMs = 5_000; // at least; the pauses between retries of a recipient grow by themselves
