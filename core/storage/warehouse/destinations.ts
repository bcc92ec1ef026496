import { BadSecret } from "../../channels/kit/secret-text.ts";
import { serviceAccount } from "../../channels/kit/service-account.ts";
import type { FieldError } from "../../errors.ts";
import {
  type DestinationType,
  destinationRules,
  destinationTypes,
  type StoreInput,
  type WarehouseDestinationInput,
  type WarehouseSecret,
  type WarehouseType,
  warehouseRules,
  warehouseSecrets,
  warehouseTypes,
} from "../../schema/warehouse/destination.ts";
import type { DestinationRow, SealedSecrets, WarehouseTarget } from "./exports.ts";

/** A store's own members, without secrets. */
export type StoreSettings = Omit<StoreInput, WarehouseSecret>;

/** A destination's own members, without secrets. */
export type DestinationSettings = Omit<WarehouseDestinationInput, WarehouseSecret>;

type ProblemOf = (url: URL) => string | null;

/** What is wrong with a destination, but for its secrets. `problemOf` judges an address by itself. */
export const destinationErrors = (problemOf: ProblemOf, destination: DestinationSettings): FieldError[] => {
  const type = warehouseOf(destination);
  if (type === undefined) return memberErrorsOf(problemOf, storeOf(destination));
  const { staging } = destination;
  const { needs, takes } = warehouseRules[type];
  const errors = memberErrors(type, { needs: [...needs, "staging"], takes }, destination);
  return staging === undefined ? errors : [...errors, ...inStaging(stagingErrors(problemOf, type, staging))];
};

const stagingErrors = (problemOf: ProblemOf, type: WarehouseType, staging: StoreSettings): FieldError[] => {
  const { staging: stores } = warehouseRules[type];
  if (!stores.includes(staging.type)) return [at("type", `is none that ${type} reads from: ${stores.join(", ")}`)];
  return memberErrorsOf(problemOf, staging);
};

const memberErrorsOf = (problemOf: ProblemOf, store: StoreSettings): FieldError[] => [
  ...memberErrors(store.type, destinationRules[store.type], store),
  ...storeErrors(problemOf, store),
];

const inStaging = (errors: readonly FieldError[]): FieldError[] =>
  errors.map(({ field, message }) => ({ field: field.replace(/^destination\./, "destination.staging."), message }));

const warehouseOf = ({ type }: { type: string }): WarehouseType | undefined =>
  warehouseTypes.find((one) => one === type);

const storeErrors = (problemOf: ProblemOf, store: StoreSettings): FieldError[] => {
  const { type, account, endpoint = null, sse = "none", kms_key_id: key = null } = store;
  const url = endpoint === null ? null : new URL(endpoint);
  const problem = url && (problemOf(url) ?? pathProblem(url));
  const isAccount = type !== "azure_blob" || account === undefined || /^[a-z0-9]{3,24}$/.test(account);
  return [
    ...(problem === null ? [] : [at("endpoint", problem)]),
    ...(key !== null && sse !== "aws:kms" ? [at("kms_key_id", "needs sse aws:kms")] : []),
    ...(isAccount ? [] : [at("account", "must be a storage account: 3 to 24 small letters and digits")]),
  ];
};

const at = (member: string, message: string): FieldError => ({ field: `destination.${member}`, message });

type Members = { needs: readonly string[]; takes: readonly string[] };

const memberErrors = (type: string, { needs, takes }: Members, given: object): FieldError[] => {
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
export const destinationSecretErrors = (
  destination: WarehouseDestinationInput,
  { isNew }: { isNew: boolean },
): FieldError[] => {
  const type = warehouseOf(destination);
  const { staging } = destination;
  const store = storeOf(destination);
  if (type === undefined) return secretErrors(store.type, store, { isNew });
  const outside = warehouseSecrets.filter((name) => destination[name] !== undefined);
  return [
    ...outside.map((name) => at(name, `is no member of the type ${type}: it belongs into staging`)),
    ...(staging === undefined ? [] : inStaging(secretErrors(staging.type, staging, { isNew }))),
  ];
};

/** The same of a store. */
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

/** The store of a destination: itself, or the one that a warehouse reads from. */
export const storeOf = (destination: DestinationSettings): StoreSettings & Secrets => {
  const type = destinationTypes.find((one) => one === destination.type);
  return type === undefined
    ? (destination.staging ?? { type: "s3" }) // a warehouse without a store is refused before
    : { ...destination, type };
};

/** A store with all of its members, without secrets. Sound where {@link destinationErrors} finds nothing. */
export const destinationOf = (destination: DestinationSettings): DestinationRow => {
  const given = storeOf(destination);
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

/** The warehouse of a destination; null when it is a store. Sound as above. */
export const targetOf = (given: DestinationSettings): WarehouseTarget | null => {
  const { database = "", schema = "" } = given;
  const type = warehouseOf(given);
  if (type === "bigquery") {
    const { project_id = "", dataset = "", location = "US" } = given;
    return { type, project_id, dataset, location };
  }
  if (type === "snowflake") {
    const { account, stage = "" } = given;
    return { type, ...(account !== undefined && { account }), database, schema, stage };
  }
  if (type === "redshift") return { type, database, schema };
  return type === undefined ? null : { type, catalog: given.catalog ?? "", schema };
};
