import { BadSecret } from "../../channels/kit/secret-text.ts";
import { serviceAccount } from "../../channels/kit/service-account.ts";
import type { FieldError } from "../../errors.ts";
import {
  type DestinationRules,
  type DestinationType,
  destinationRules,
  type WarehouseDestinationInput,
  type WarehouseSecret,
  warehouseSecrets,
} from "../../schema/warehouse/destination.ts";
import type { DestinationRow, SealedSecrets } from "./exports.ts";

/** A destination's own members, without secrets. */
export type DestinationSettings = Omit<WarehouseDestinationInput, WarehouseSecret>;

type ProblemOf = (url: URL) => string | null;

/** What is wrong with a destination, but for its secrets. `problemOf` judges an address by itself. */
export const destinationErrors = (problemOf: ProblemOf, destination: DestinationSettings): FieldError[] => {
  const { type, endpoint = null, sse = "none", kms_key_id: key = null } = destination;
  const url = endpoint === null ? null : new URL(endpoint);
  const problem = url && (problemOf(url) ?? pathProblem(url));
  return [
    ...memberErrors(type, destinationRules[type], destination),
    ...(problem === null ? [] : [at("endpoint", problem)]),
    ...(key !== null && sse !== "aws:kms" ? [at("kms_key_id", "needs sse aws:kms")] : []),
  ];
};

const at = (member: string, message: string): FieldError => ({ field: `destination.${member}`, message });

const memberErrors = (type: string, { needs, takes }: DestinationRules, given: DestinationSettings): FieldError[] => {
  const names = Object.entries(given).flatMap(([name, value]) => (value === undefined || value === null ? [] : [name]));
  const own = ["type", ...needs, ...takes, ...warehouseSecrets];
  return [
    ...needs.filter((name) => !names.includes(name)).map((name) => at(name, `is required of the type ${type}`)),
    ...names.filter((name) => !own.includes(name)).map((name) => at(name, `is no member of the type ${type}`)),
  ];
};

const pathProblem = ({ pathname, search, hash }: URL): string | null =>
  pathname === "/" && search === "" && hash === "" ? null : "must be a server alone, without a path or a query";

type Secrets = Partial<Record<WarehouseSecret, string | undefined>>;

/** What is wrong with the secrets of a destination. Of a new one none may be left out. */
export const secretErrors = (type: DestinationType, given: Secrets, { isNew }: { isNew: boolean }): FieldError[] => {
  const { secrets: groups } = destinationRules[type];
  const names = warehouseSecrets.filter((name) => given[name] !== undefined);
  return [
    ...names
      .filter((name) => !groups.flat().includes(name))
      .map((name) => at(name, `is no secret of the type ${type}`)),
    ...groups.flatMap((group) => groupErrors(group, names, isNew)),
    ...(given.credentials_json === undefined ? [] : credentialErrors(given.credentials_json)),
  ];
};

const groupErrors = (group: readonly WarehouseSecret[], names: readonly string[], isNew: boolean): FieldError[] => {
  const [first = "", ...others] = group;
  const given = group.filter((name) => names.includes(name));
  if (given.length > 1) return [at(given[1] ?? "", `is given beside ${first}: one of both is enough`)];
  if (given.length > 0 || !isNew) return [];
  return [at(first, others.length === 0 ? "is required" : `is required, or ${others.join(" or ")}`)];
};

const credentialErrors = (text: string): FieldError[] => {
  try {
    serviceAccount(text);
    return [];
  } catch (error) {
    if (error instanceof BadSecret) return [at("credentials_json", error.message)];
    throw error;
  }
};

/** A destination's secrets after a change: what is given takes the place of what was stored of its group. */
export const mergedSecrets = (type: DestinationType, stored: SealedSecrets, given: SealedSecrets): SealedSecrets =>
  Object.fromEntries(
    destinationRules[type].secrets.flatMap((group) => {
      const of = group.some((name) => given[name] !== undefined) ? given : stored;
      return group.flatMap((name) => (of[name] === undefined ? [] : [[name, of[name]]]));
    }),
  );

/** A destination with all of its members, without secrets. Sound where {@link destinationErrors} finds nothing. */
export const destinationOf = (given: DestinationSettings): DestinationRow => {
  const { type, bucket = "", endpoint: asked = null, prefix = "" } = given;
  const endpoint = asked === null ? null : new URL(asked).origin;
  if (type === "gcs") return { type, bucket, prefix, endpoint };
  if (type === "azure_blob") {
    const { account = "", container = "" } = given;
    return { type, account, container, prefix, endpoint };
  }
  return {
    type,
    bucket,
    region: given.region ?? "us-east-1",
    prefix,
    endpoint,
    path_style: given.path_style ?? endpoint !== null,
    sse: given.sse ?? "none",
    kms_key_id: given.kms_key_id ?? null,
  };
};
