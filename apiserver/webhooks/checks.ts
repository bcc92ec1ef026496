import { type FilterProblem, filterProblems } from "#core/domain/webhooks/filter.ts";
import { type FieldError, invalid, ValidationError } from "#core/errors.ts";
import type { EventKind } from "#core/schema/events/envelope.ts";
import { isReservedHeader } from "#core/schema/vocabulary/reserved-headers.ts";
import type { WebhookFilters } from "#core/schema/webhooks/filters.ts";
import { messageReceived } from "#core/schema/webhooks/webhook.ts";

/** What a schema cannot say of an endpoint; a member that is left out is not looked at. */
export type Checked = {
  url?: string | undefined;
  events?: readonly EventKind[] | undefined;
  event_names?: readonly string[] | undefined;
  audience?: "bot" | null | undefined;
  headers?: Readonly<Record<string, string>> | null | undefined;
  body_template?: string | null | undefined;
  filters?: WebhookFilters | null | undefined;
};

export type CheckDeps = {
  /** Why no request may go to an address; null when it may. */
  addressProblem: (url: URL) => string | null;
  /** Why none can be made to where its name leads; null when one can, or nobody knows. */
  reachProblem: (url: URL) => Promise<string | null>;
  /** What is wrong with a template's syntax; null when nothing is. */
  templateProblem: (template: string) => string | null;
};

/** Throws unless an endpoint may be as asked for. @throws ValidationError with every problem */
export const checkWebhook = (deps: CheckDeps, wanted: Checked): void =>
  refuseAll([
    ...urlProblems(deps, wanted.url),
    ...eventProblems(wanted),
    ...headerProblems(Object.keys(wanted.headers ?? {})),
    ...templateProblems(deps, wanted.body_template),
    ...(wanted.filters ? filterProblems(wanted.filters, "filters") : []),
  ]);

/** The same for filters alone. */
export const checkFilters = (filters: WebhookFilters | null | undefined): void =>
  refuseAll(filters ? filterProblems(filters, "filters") : []);

const refuseAll = ([first, ...rest]: readonly FilterProblem[]): void => {
  if (first === undefined) return;
  throw new ValidationError([bare(first), ...rest.map(bare)], first.allowed && { allowed: first.allowed });
};

/** Throws when the name of an address leads where it must not. Asked apart: it takes a name server's time. */
export const checkReach = async (
  { reachProblem }: Pick<CheckDeps, "reachProblem">,
  text: string | undefined,
): Promise<void> => {
  const url = text === undefined ? null : URL.parse(text);
  const message = url === null ? null : await reachProblem(url);
  if (message !== null) throw invalid("url", message);
};

const bare = ({ field, message }: FieldError): FieldError => ({ field, message });

const urlProblems = ({ addressProblem }: CheckDeps, text: string | undefined): FieldError[] => {
  if (text === undefined) return [];
  const url = URL.parse(text);
  const message = url === null ? "is not an address" : addressProblem(url);
  return message === null ? [] : [{ field: "url", message }];
};

/** Custom events are wanted by name. Source: docs/reference/webhooks.md#endpoints. */
const eventProblems = ({ events = [], event_names: names = [], audience = null }: Checked): FieldError[] => {
  const areWanted = events.includes("event.received");
  const hasNone = areWanted && names.length === 0;
  const narrowsNothing = audience !== null && !(areWanted && names.includes(messageReceived));
  return [
    ...(hasNone
      ? [{ field: "event_filters.event_names", message: "must name at least one event, as event.received is wanted" }]
      : []),
    ...(narrowsNothing
      ? [{ field: "event_filters.audience", message: `narrows ${messageReceived}, which event_names do not have` }]
      : []),
  ];
};

/** Header names are the same whatever their case. Source: docs/reference/webhooks.md#own-headers. */
const headerProblems = (names: readonly string[]): FieldError[] => {
  const seen = new Set<string>();
  return names.flatMap((name) => {
    const isTwice = seen.has(name.toLowerCase());
    seen.add(name.toLowerCase());
    if (isReservedHeader(name)) return [{ field: `headers.${name}`, message: "is a reserved header" }];
    return isTwice ? [{ field: `headers.${name}`, message: "is given twice: case does not matter" }] : [];
  });
};

const templateProblems = ({ templateProblem }: CheckDeps, template: string | null | undefined): FieldError[] => {
  const message = template ? templateProblem(template) : null;
  return message === null ? [] : [{ field: "body_template", message }];
};
