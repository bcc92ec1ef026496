import { Type } from "typebox";
import { parseFilter } from "#core/domain/filters/parse.ts";
import { inAppFaults } from "#core/domain/in-app-messages/check.ts";
import { contradictions } from "#core/domain/live-activities/schema.ts";
import { isTimeZone } from "#core/domain/time-zone.ts";
import { filterProblems } from "#core/domain/webhooks/filter.ts";
import { type FieldError, refuse, ValidationError } from "#core/errors.ts";
import { checkDraft } from "#core/runtime/templates/content/draft.ts";
import { templateProblem } from "#core/runtime/templates/engine.ts";
import { UpdateInAppMessage } from "#core/schema/in-app-messages/in-app-message.ts";
import type { InAppMessageSpec } from "#core/schema/in-app-messages/resource.ts";
import { parser } from "#core/schema/json/parser.ts";
import type { LiveActivityTypeSpec } from "#core/schema/live-activities/resource.ts";
import type { SegmentSpec } from "#core/schema/segments/resource.ts";
import type { TemplateSpec } from "#core/schema/templates/resource.ts";
import { TemplateContent } from "#core/schema/templates/template.ts";
import type { WebhookSpec } from "#core/schema/webhooks/resource.ts";
import { type Finding, stepsOf } from "./finding.ts";
import type { Manifest } from "./manifest.ts";

/**
 * What the operator would refuse of a resource that its schema admits, by the same checks as the operator's. The resource
 * has passed its schema.
 */
export const meaningFindings = (manifest: Manifest): Finding[] => (checks[manifest.kind] ?? (() => []))(manifest);

const checks: Record<string, (manifest: Manifest) => Finding[]> = {
  App: (manifest) => {
    const { timeZone } = specOf(manifest) as { timeZone?: string };
    if (timeZone === undefined || isTimeZone(timeZone)) return [];
    return [manifest.finding("time-zone", ["spec", "timeZone"], `${timeZone} is not an IANA time zone`)];
  },
  Webhook: (manifest) => {
    const { bodyTemplate, filters } = specOf(manifest) as Pick<WebhookSpec, "bodyTemplate" | "filters">;
    const problem = bodyTemplate === undefined ? null : templateProblem(bodyTemplate);
    return [
      ...(problem === null ? [] : [manifest.finding("template", ["spec", "bodyTemplate"], problem)]),
      ...(filters === undefined ? [] : filterProblems(filters, "spec.filters")).map(({ field, message }) =>
        manifest.finding("filter", stepsOf(field), message),
      ),
    ];
  },
  Segment: (manifest) => {
    const { filter } = specOf(manifest) as SegmentSpec;
    return (filter === undefined ? [] : faultsIn(() => parseFilter(filter, "spec.filter"))).map(({ field, message }) =>
      manifest.finding("filter", stepsOf(field), message),
    );
  },
  Template: (manifest) => {
    const { kind, content } = specOf(manifest) as TemplateSpec;
    if (content === undefined) return [];
    const faults = faultsIn(() => checkDraft({ kind: kind ?? "message", content: parseContent(content) }));
    return faults.map(({ field, message }) => manifest.finding("template", stepsOf(`spec.${field}`), message));
  },
  InAppMessage: (manifest) => {
    const { variants, triggers = [], startAt, endAt } = specOf(manifest) as InAppMessageSpec;
    const [start_at, end_at] = [startAt, endAt].map((at) => (at === undefined ? null : new Date(at)));
    const faults = faultsIn(() => {
      const said = parseInApp({ variants, triggers });
      refuse(inAppFaults({ variants: [], triggers: [], ...said, start_at: start_at ?? null, end_at: end_at ?? null }));
    });
    return faults.map(({ field, message }) =>
      manifest.finding("in-app-message", stepsOf(`spec.${field === "end_at" ? "endAt" : field}`), message),
    );
  },
  LiveActivityType: (manifest) => {
    const { contentStateSchema, attributesSchema } = specOf(manifest) as LiveActivityTypeSpec;
    return [
      ...contradictions(contentStateSchema, "spec.contentStateSchema"),
      ...(attributesSchema === undefined ? [] : contradictions(attributesSchema, "spec.attributesSchema")),
    ].map(({ field, message }) => manifest.finding("activity-schema", stepsOf(field), message));
  },
};

const parseInApp = parser(Type.Pick(UpdateInAppMessage, ["variants", "triggers"]));

const parseContent = parser(TemplateContent, { prefix: "content" });

/** What a check refuses. Whether what is named is there, a segment or a partial, is the operator's to find out. */
const faultsIn = (check: () => unknown): FieldError[] => {
  try {
    check();
    return [];
  } catch (error) {
    if (error instanceof ValidationError) return [error.details as FieldError]; // sound: the first fault stands there
    throw error;
  }
};

/** Of the type that its kind's schema gives it: it has passed that. */
const specOf = ({ value }: Manifest): unknown => value["spec"];
