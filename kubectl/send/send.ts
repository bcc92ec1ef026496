import { randomUUID } from "node:crypto";
import { type FieldError, ValidationError } from "#core/errors.ts";
import { KubeError } from "#core/runtime/kube/errors.ts";
import { parser } from "#core/schema/json/parser.ts";
import { EstimateAudience, type EstimateAudienceResult } from "#core/schema/messages/estimate.ts";
import type { CreateNotificationResult } from "#core/schema/messages/message.ts";
import { CreateNotification } from "#core/schema/messages/notification.ts";
import { isSet, text, texts } from "../kit/arguments.ts";
import type { Given, Run, Tools } from "../kit/command.ts";
import { UsageError } from "../kit/errors.ts";
import { readObject } from "../kit/input.ts";
import { printed } from "../kit/output.ts";
import { openRest, type Rest } from "../rest/rest.ts";

/** Sends a notification, or counts whom it would reach. */
export const runSend: Run = async (given, tools) => {
  const body = await bodyOf(given, tools);
  const isBroad = !isForPeople(body["target"]);
  if (isBroad && !isSet(given, "broadcast") && !isSet(given, "dry-run"))
    throw new UsageError("its target names no people: --broadcast sends it, --dry-run counts them, --to tries it");
  const rest = await openRest(given, tools, "notifications:write");
  return isSet(given, "dry-run") ? estimate(rest, body, given, tools) : accept(rest, body, given, tools);
};

type Body = Record<string, unknown>;

/** @throws UsageError for what the schema of this release does not take */
const bodyOf = async (given: Given, { stdin }: Pick<Tools, "stdin">): Promise<Body> => {
  const file = text(given, "filename");
  if (file === undefined) throw new UsageError("-f names the notification's file; - reads stdin");
  const read = await readObject(file, stdin);
  const to = texts(given, "to");
  if (to.length === 0 && read["target"] === undefined)
    throw new UsageError(`${file} has no target, and --to names nobody`);
  const body = to.length === 0 ? read : { ...read, target: toPeople(to, read["target"]) };
  return checked(body, file);
};

/** Over the channels that the message is for. */
const toPeople = (to: readonly string[], target: unknown): Body => {
  const channels = (target as { channels?: unknown } | null | undefined)?.channels;
  return { include_external_ids: [...to], ...(channels !== undefined && { channels }) };
};

const checked = (body: Body, file: string): Body => {
  try {
    return parser(CreateNotification)(body);
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    const faults = faultsOf(error).map(({ field, message }) => `\n  ${field}: ${message}`);
    throw new UsageError(`${file} is no notification:${faults.join("")}`, { cause: error });
  }
};

const faultsOf = ({ details }: ValidationError): readonly FieldError[] => details["errors"] as FieldError[]; // as it is made

const ofPeople = ["include_external_ids", "include_aliases", "include_subscription_ids"];
const narrowing = ["filters", "excluded_segments", "channels", "test_devices_only"];

/** A target that names people, and nothing that means others. */
const isForPeople = (target: unknown): boolean => {
  const members = Object.entries(target as Body).filter(([, value]) => value !== false); // sound: a checked target
  return (
    members.some(([name]) => ofPeople.includes(name)) &&
    members.every(([name]) => ofPeople.includes(name) || narrowing.includes(name))
  );
};

const estimate = async (rest: Rest, body: Body, given: Given, { out }: Tools): Promise<0 | 1> => {
  const asked = Object.entries(body).filter(([name]) => name in EstimateAudience.properties);
  const found = await rest.post<EstimateAudienceResult>("/v1/notifications/estimate", {
    ...Object.fromEntries(asked),
    app_id: rest.appId,
  });
  const format = text(given, "output");
  if (format === "json" || format === "yaml") out(printed(found, format));
  else out(`${told(found).join("\n")}\n`);
  return (found.recipients ?? found.upper_bound ?? 0) > 0 ? 0 : 1;
};

const told = (found: EstimateAudienceResult): string[] => [
  `It would reach ${reached(found)} subscriptions. Nothing was sent.`,
  ...Object.entries(found.by_channel).map(([channel, count]) => `  ${channel}: ${count}`),
  ...found.skipped_channels.map(
    ({ channel, reason, recipients }) => `  ${channel}: ${recipients} are not reached: ${reason}`,
  ),
  ...missing(found),
];

const reached = ({ recipients, upper_bound: most, is_exact: isExact }: EstimateAudienceResult): string =>
  recipients === null ? `at most ${most}` : isExact === false ? `about ${recipients}` : `${recipients}`;

const missing = ({ external_id_missing: ids }: { external_id_missing: readonly string[] }): string[] =>
  ids.length === 0 ? [] : [`Nobody has the external id ${ids.slice(0, 10).join(", ")}${ids.length > 10 ? ", …" : ""}.`];

const keyOf = ({ idempotency_key: key }: Body): string => (typeof key === "string" ? key : randomUUID());

const accept = async (rest: Rest, body: Body, given: Given, { out, err }: Tools): Promise<0 | 1> => {
  const key = text(given, "idempotency-key") ?? keyOf(body);
  const wanted = { ...body, app_id: rest.appId, idempotency_key: key };
  const made = await rest.post<CreateNotificationResult>("/v1/notifications", wanted).catch((error: unknown) => {
    if (error instanceof KubeError && (error.status === 0 || error.status >= 500))
      err(`Whether it was sent is not known: --idempotency-key ${key} sends it once, whatever became of it.\n`);
    throw error;
  });
  const format = text(given, "output");
  if (format === "json" || format === "yaml") out(printed(made, format));
  else {
    const lines = [`${made.id} is accepted, for ${made.recipients_estimate} subscriptions.`, ...missing(made)];
    out(`${lines.join("\n")}\n`);
  }
  return made.recipients_estimate > 0 ? 0 : 1;
};
