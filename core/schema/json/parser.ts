import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { fullFormats } from "ajv-formats/dist/formats.js";
import type { Static, TSchema } from "typebox";
import { ValidationError } from "../../errors.ts";
import { ourFormats } from "./formats.ts";
import { fieldErrors } from "./parser-problems.ts";

/**
 * Makes the check of one schema, for use at a border: gives back the input, typed, or throws {@link ValidationError}
 * naming up to 20 failing members by dotted path (`target.channels[0]`), each below `prefix` when one is given.
 * The input is never changed: no defaults, no coercion.
 */
export const parser = <S extends TSchema>(schema: S, { prefix = "" }: { prefix?: string } = {}) => {
  let isValid: ValidateFunction | undefined; // both are compiled when first needed: that takes milliseconds
  let findAll: ValidateFunction | undefined; // many schemas never fail
  return (input: unknown): Static<S> => {
    isValid ??= firstErrorAjv.compile(schema);
    if (isValid(input)) return input as Static<S>; // sound: the schema has just been checked
    let failed: ValidateFunction = isValid;
    if (isSmall(input)) {
      allErrorsAjv ??= makeAjv(true);
      findAll ??= allErrorsAjv.compile(schema);
      findAll(input);
      failed = findAll;
    }
    throw new ValidationError(fieldErrors(failed.errors ?? [], input, prefix));
  };
};

/** Keywords of ours and of CustomResourceDefinitions, which say nothing about validity here. */
const vocabulary = [
  "env",
  "secret",
  "x-kubernetes-validations",
  "x-kubernetes-preserve-unknown-fields",
  "x-kubernetes-int-or-string",
  "x-kubernetes-list-type",
  "x-kubernetes-list-map-keys",
  "x-kubernetes-map-type",
];

const code = { optimize: false };
const formats = { ...fullFormats, ...ourFormats };

/**
 * That schemas are valid ones is for a test to say: the check against the meta-schema is a tenth of what a start costs. Ajv's
 * optimization of the code that it writes takes as long as all else of a compilation, and V8 makes it run no faster.
 */
const makeAjv = (allErrors: boolean): Ajv2020 => {
  const ajv = new Ajv2020({ strict: true, validateSchema: false, meta: false, allErrors, formats, code });
  ajv.addVocabulary(vocabulary);
  return ajv;
};

const firstErrorAjv = makeAjv(false);
let allErrorsAjv: Ajv2020 | undefined; // made when something fails for the first time

const smallNodes = 4_000; // collecting every error costs memory for each bad item: of larger inputs only the first is named

const isSmall = (input: unknown): boolean => {
  const queue: unknown[] = [input];
  for (let i = 0; i < queue.length; i++) {
    const node = queue[i];
    if (typeof node !== "object" || node === null) continue;
    const children = Object.values(node);
    if (queue.length + children.length > smallNodes) return false;
    queue.push(...children);
  }
  return true;
};
