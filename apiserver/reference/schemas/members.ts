import { escaped } from "../../http/markup.ts";
import { code, folded, inline, list } from "../html.ts";
import { rulesOf } from "./rules.ts";
import { formsOf, referred, type Schema, type SchemaObject, unwrapped, valuesOf } from "./schema.ts";
import { boundsOf, kindOf, nameOfForm } from "./words.ts";

/** Where a schema is shown. */
export type Place = {
  /** The way from the page to the folder of all pages: empty, or `../`. */
  root: string;
  /** Every named schema. */
  schemas: Readonly<Record<string, SchemaObject>>;
  /** What the ids of the members begin with: `body`. */
  at: string;
  /** How deep it stands in what is shown. */
  depth?: number;
  /** Named schemas that it stands in. */
  inside?: readonly string[];
};

const deepest = 8; // as deep as the interface's own bodies; what is deeper is a link
const mostNamed = 2; // named schemas within one another; the next one is a link

/** The members of a value, each with its type, bounds and description, and what is below it to be unfolded. */
export const membersOf = (given: Schema, place: Place): string => {
  if (typeof given === "boolean") return "";
  const schema = unwrapped(given);
  const { depth = 0, inside = [] } = place;
  const name = referred(schema);
  if (name !== undefined) {
    const shown = place.schemas[name];
    if (shown === undefined || inside.includes(name) || inside.length >= mostNamed || depth >= deepest) return "";
    return membersOf(shown, { ...place, inside: [...inside, name] });
  }
  if (depth >= deepest) return deeper(schema);
  return [ofObject(schema, place), ofItems(schema, place), ofForms(schema, place)].filter(Boolean).join("\n");
};

const deeper = ({ properties, items }: SchemaObject): string =>
  properties === undefined && items === undefined ? "" : "<p>What is deeper is in openapi.json.</p>";

const ofObject = (schema: SchemaObject, place: Place): string => {
  const { properties = {}, required = [] } = schema;
  const names = Object.entries(properties).sort(
    ([a], [b]) => Number(required.includes(b)) - Number(required.includes(a)),
  );
  const rules = list("rules", rulesOf(schema, place.root));
  const members = names.map(([name, member]) => memberOf({ name, member, isRequired: required.includes(name) }, place));
  return `${members.length === 0 ? "" : `<ul class="members">\n${members.join("\n")}\n</ul>`}${rules}`;
};

type Member = { name: string; member: Schema; isRequired: boolean };

const memberOf = ({ name, member, isRequired }: Member, place: Place): string => {
  const at = `${place.at}.${name}`;
  const below = membersOf(member, { ...place, at, depth: (place.depth ?? 0) + 1 });
  const id = escaped(at.replaceAll(/\s/g, "_"));
  return `<li id="${id}"><a class="name" href="#${id}">${code(name)}</a> ${about(member, place, isRequired)}
${below === "" ? "" : folded(`Inside ${code(name)}`, below, isRequired ? " open" : "")}</li>`;
};

/** The type of a value, whether it is required, its bounds and its description. */
export const about = (schema: Schema, { root }: Pick<Place, "root">, isRequired = false): string => {
  const bounds = boundsOf(schema);
  const description = typeof schema === "object" ? unwrapped(schema).description : undefined;
  return [
    `<span class="kind">${kindOf(schema, root)}</span>`,
    isRequired ? ' <span class="required">required</span>' : "",
    description === undefined ? "" : `<p>${inline(description)}</p>`,
    bounds.length === 0 ? "" : `<p class="bounds">${bounds.join("; ")}</p>`,
  ].join("");
};

const ofItems = (schema: SchemaObject, place: Place): string => {
  const items = schema.items ?? valuesOf(schema);
  const depth = (place.depth ?? 0) + 1;
  return items === undefined ? "" : membersOf(items, { ...place, at: `${place.at}[]`, depth });
};

const ofForms = (schema: SchemaObject, place: Place): string => {
  const [only, ...more] = formsOf(schema);
  if (only !== undefined && more.length === 0) return membersOf(only, place);
  const forms = formsOf(schema).map((form, n) => ({
    form,
    below: membersOf(form, { ...place, at: `${place.at}(${n})` }),
  }));
  if (forms.every(({ below }) => below === "")) return "";
  return list(
    "forms",
    forms.map(({ form, below }) => {
      const name = `Form: ${nameOfForm(form, place.root)}`;
      return below === "" ? `${name} ${boundsOf(form).join("; ")}` : folded(name, below);
    }),
  );
};
