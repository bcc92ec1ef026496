import { defined } from "#core/domain/defined.ts";
import { UpdateInAppMessage } from "#core/schema/in-app-messages/in-app-message.ts";
import type { InAppMessageSpec } from "#core/schema/in-app-messages/resource.ts";
import { parser } from "#core/schema/json/parser.ts";
import type { ManagedRow } from "#core/storage/settings/managed.ts";
import { hasNamed } from "../named-members.ts";

/** What a resource says, as a request would; what it says no more is as in a new message. @throws ValidationError */
export const saidIn = (spec: InAppMessageSpec, row: ManagedRow | null = null): UpdateInAppMessage => {
  const { name, variants } = spec;
  const said = Object.entries(optionalIn(spec)).map(([member, value]) => {
    if (value !== undefined) return [member, value];
    return [member, hasNamed(row, member) ? unsaid[member as keyof typeof unsaid] : undefined]; // sound: these have the same members
  });
  return parse(defined({ name, variants, ...Object.fromEntries(said) }));
};

/** The members that are the resource's: the REST interface owns the rest. */
export const ownMembers = (spec: InAppMessageSpec): string[] => [
  "name",
  "variants",
  ...Object.keys(defined(optionalIn(spec))),
];

const camel = (text: string): string => text.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Where in a resource a member of a request stands. */
export const placeOf = (field: string): string => {
  return `spec.${field.replace(/^spec\./, "").replace(/^(start_at|end_at|target\.\w+)/, camel)}`;
};

const parse = parser(UpdateInAppMessage, { prefix: "spec" });

const optionalIn = ({ status, target, triggers, redisplay, priority, startAt, endAt }: InAppMessageSpec) => ({
  status,
  target:
    target === undefined
      ? undefined
      : defined({ included_segments: target.includedSegments, excluded_segments: target.excludedSegments }),
  triggers,
  redisplay: redisplay === undefined ? undefined : { limit: redisplay.limit, after_hours: redisplay.afterHours },
  priority,
  start_at: startAt,
  end_at: endAt,
});

const unsaid = {
  status: "draft",
  target: {},
  triggers: [],
  redisplay: null,
  priority: 0,
  start_at: null,
  end_at: null,
} satisfies UpdateInAppMessage;
