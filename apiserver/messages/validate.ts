import { AppError, errorStatuses, invalid } from "#core/errors.ts";
import { parser } from "#core/schema/json/parser.ts";
import { CreateNotification } from "#core/schema/messages/notification.ts";
import type { NotificationValidated, ValidateNotification } from "#core/schema/messages/validate.ts";
import type { Why } from "#core/schema/why/why.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { type OfApp, ofApp } from "#core/storage/mongo/collection.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import type { Caller } from "../access/caller.ts";
import { audienceOf, requireChannels } from "../audience/audience.ts";
import { type Estimate, missingOf } from "../audience/estimate.ts";
import type { Planned, planSchedule } from "../audience/schedule.ts";
import { idempotencyKey } from "../http/idempotency-key.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import type { By } from "../settings/audit.ts";
import { type AcceptDeps, type Judged, judge, requireMembers, rowOf, skippedBy } from "./accept.ts";
import { type RenderedDeps, renderedOn } from "./rendered.ts";

export type ValidateDeps = Pick<AcceptDeps, "take" | "aimOf" | "compile" | "clock" | "estimate" | "requireFeature"> &
  RenderedDeps & {
    limit: NarrowLimit;
    planSchedule: ReturnType<typeof planSchedule>;
    users: { find: (of: OfApp, label: string, id: string) => Promise<UserRow | null> };
    /** What the gates say of somebody and a message that was not sent. */
    explain: (by: By, app: AppRow, message: MessageRow, query: { external_id: string }) => Promise<Why>;
  };

export type ValidateRequest = By & { app: AppRow; body: ValidateNotification; as: string | undefined };

/**
 * Says what `POST /v1/notifications` would make of a message: whether it is accepted, what each channel is handed, whom it
 * reaches and when; of one person, what the gates say. Nothing is sent, stored or reserved.
 * Source: docs/reference/notification-operations.md#validation. @throws ValidationError for a person whom the app does not have
 */
export const validate =
  (deps: ValidateDeps) =>
  async (request: ValidateRequest): Promise<NotificationValidated> => {
    const { app, as } = request;
    await deps.limit("notifications.validate", app._id);
    const person = as === undefined ? null : await personOf(deps, request, as);
    try {
      return await judged(deps, request, person);
    } catch (error) {
      if (!(error instanceof AppError) || errorStatuses[error.code] >= 500) throw error;
      return { ...nothing, errors: errorsOf(error) };
    }
  };

const personOf = async ({ users }: ValidateDeps, { caller, app }: ValidateRequest, as: string): Promise<UserRow> => {
  requireReading(caller);
  const person = await users.find(ofApp(app), "external_id", as);
  if (person === null) throw invalid("as", "is nobody of this app");
  return person;
};

const required_scopes = ["analytics:read"];

/** Who asks about a person has to be allowed to. */
const requireReading = ({ key: { scopes: granted_scopes } }: Caller): void => {
  if (granted_scopes.includes("admin") || granted_scopes.includes("analytics:read")) return;
  const message = "this key does not have the scope to ask about a person";
  throw new AppError("HS_FORBIDDEN", message, { required_scopes, granted_scopes });
};

const parse = parser(CreateNotification);

const nothing: NotificationValidated = {
  valid: false,
  errors: [],
  warnings: [],
  recipients: null,
  channels: [],
  skipped_channels: [],
  schedule: null,
  zone_unknown: null,
  local_time_missed: null,
  quiet_hours: null,
  as: null,
};

const errorsOf = ({ code, message, details }: AppError): NotificationValidated["errors"] => {
  const { errors } = details as { errors?: { field: string; message: string }[] };
  if (errors === undefined) return [{ code, field: null, message }];
  return errors.map((one) => ({ code, field: one.field, message: one.message }));
};

const judged = async (
  deps: ValidateDeps,
  request: ValidateRequest,
  person: UserRow | null,
): Promise<NotificationValidated> => {
  const { app } = request;
  const body = parse(request.body);
  await requireMembers(deps, { caller: request.caller, body });
  const found = await judge(deps, app, body);
  const { draft, channels, over, asked, html } = found;
  const { meant, options, category, scheduledFor, taken } = draft;
  const planned = deps.planSchedule(app, { options, category, scheduledFor, now: deps.clock.now() });
  const more = { ...asked, onReached: planned?.onReached };
  const estimate = await deps.estimate(audienceOf(app, draft, channels), meant.target, more);
  requireChannels({ ...draft, target: meant.target }, channels);
  const render = renderedOn(deps, {
    app,
    content: taken === null ? meant.content : draft.content,
    options,
    html,
    taken,
    person,
  });
  const rendered = await Promise.all(over.map(render));
  return {
    ...nothing,
    valid: true,
    warnings: warningsOf(estimate, rendered),
    recipients: estimate.recipients,
    channels: rendered,
    skipped_channels: skippedBy(app, draft),
    ...scheduleOf(planned, estimate),
    as: person === null ? null : await gatesOf(deps, request, body, { found, estimate }),
  };
};

const scheduleOf = (planned: Planned | null, { isUpperBound, recipients }: Estimate) =>
  planned?.shown(isUpperBound === true ? null : recipients);

const warningsOf = (
  estimate: Estimate,
  rendered: NotificationValidated["channels"],
): NotificationValidated["warnings"] => {
  const { external_id_missing: unknown, missing } = missingOf(estimate);
  const variables = new Set(rendered.flatMap(({ languages }) => languages.flatMap((one) => one.missing_variables)));
  const long = rendered.filter(({ languages }) =>
    languages.some(({ bytes, limit_bytes: most }) => bytes !== null && most !== null && bytes > most),
  );
  return [
    ...(estimate.recipients === 0 ? [{ field: "target", message: "reaches nobody now" }] : []),
    ...(unknown.length > 0
      ? [{ field: "target.include_external_ids", message: `${unknown.length} are nobody's` }]
      : []),
    ...(missing ? [{ field: "target", message: "names subscriptions or aliases that nobody has" }] : []),
    ...(variables.size > 0
      ? [{ field: "template_id", message: `reads what is not there: ${[...variables].join(", ")}` }]
      : []),
    ...long.map(({ channel }) => ({ field: null, message: `is cut to what fits on ${channel}` })),
  ];
};

/** Asks the gates about the message as it would be stored. */
const gatesOf = async (
  { explain, clock }: ValidateDeps,
  { caller, ip, requestId, app, as = "" }: ValidateRequest,
  body: CreateNotification,
  { found, estimate }: { found: Judged; estimate: Estimate },
): Promise<NotificationValidated["as"]> => {
  const now = clock.now();
  const begun = { id: notSent, reserved: null, now, madeAt: now };
  const key = idempotencyKey(undefined, body.idempotency_key);
  const row = rowOf({ caller, app, body, key, traceparent: "" }, { ...found, estimate }, begun);
  const { recipients, sentence } = await explain(
    { caller, ip, requestId },
    app,
    { ...row, scheduled_for: null },
    { external_id: as },
  );
  const passed = recipients.map((one) => (isHeld(one) ? one : { ...one, decided_by: null, sentence: passes }));
  return { sentence: recipients.every(isHeld) ? sentence : passes, recipients: passed };
};

/** No message has this id. */
const notSent = "msg_not_sent";

/** What would hold them back. Who passes all gates waits for the send. */
const isHeld = ({ decided_by: by }: Why["recipients"][number]): boolean => by !== "send";

const passes = "Nothing that is known now holds it back.";
